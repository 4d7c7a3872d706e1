// Prints diagnostics with the lines of a text in memory.
#include "lowering/CodeGen/SourceDiagnostics.h"
#include "lowering/CodeGen/UserPlace.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tessera::lowering {

static StringRef nameOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("unknown severity");
}

/// The line of a number, counted from 1, or nothing if there is none.
static StringRef lineOf(StringRef text, unsigned number) {
  for (unsigned line = 1; line < number && !text.empty(); ++line)
    text = text.split('\n').second;
  return text.split('\n').first;
}

SourceDiagnostics::SourceDiagnostics(MLIRContext &context,
                                     llvm::MemoryBufferRef source,
                                     std::string &to)
    : source(source), to(to), handler(&context, [this](Diagnostic &diagnostic) {
        print(diagnostic.getLocation(), diagnostic.getSeverity(),
              diagnostic.str());
        for (Diagnostic &note : diagnostic.getNotes())
          print(note.getLocation(), note.getSeverity(), note.str());
        return success();
      }) {}

void SourceDiagnostics::print(Location loc, DiagnosticSeverity severity,
                              const std::string &what) {
  constexpr size_t kScreen = 200; // longer lines are not shown
  llvm::raw_string_ostream os(to);
  FileLineColLoc place = userPlace(loc);
  if (place)
    os << place.getFilename().getValue() << ":" << place.getLine() << ":"
       << place.getColumn() << ": ";
  os << nameOf(severity) << ": " << what << "\n";
  if (!place || place.getFilename().getValue() != source.getBufferIdentifier())
    return;
  StringRef line = lineOf(source.getBuffer(), place.getLine()).rtrim();
  unsigned column = place.getColumn();
  if (line.empty() || line.size() > kScreen || column > line.size() + 1)
    return;
  os << line << "\n";
  for (char c : line.take_front(column > 0 ? column - 1 : 0))
    os << (c == '\t' ? '\t' : ' ');
  os << "^\n";
}

} // namespace tessera::lowering
