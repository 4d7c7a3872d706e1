// Launches as comments of PTX.
#include "lowering/PtxListing.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tessera::lowering {

namespace {

class Listing {
public:
  explicit Listing(const PtxProgram &program) : program(program) {
    for (const LaunchInfo &launch : program.launches)
      infos[launch.symbol] = &launch;
  }

  std::string text() {
    raw_string_ostream os(result);
    head(os);
    StringRef left = program.ptx;
    while (!left.empty()) {
      auto [line, rest] = left.split('\n');
      if (StringRef symbol = entryOf(line); !symbol.empty())
        kernel(os, symbol);
      os << line << "\n";
      left = rest;
    }
    return std::move(result);
  }

private:
  /// The kernel whose definition this line begins, or nothing.
  static StringRef entryOf(StringRef line) {
    constexpr StringLiteral kBegin = ".visible .entry ";
    return line.consume_front(kBegin)
               ? line.take_until([](char c) { return c == '(' || c == ' '; })
               : "";
  }

  std::string formula(int64_t constant,
                      ArrayRef<runtime::SizeFormula::Term> terms) {
    std::string text;
    raw_string_ostream os(text);
    for (const auto &[symbol, times, coefficient, plus, divisor] : terms) {
      os << (text.empty() ? "" : " + ");
      if (times != 1)
        os << times << " * ";
      if (divisor != 1)
        os << "ceil((";
      if (coefficient != 1)
        os << coefficient << " * ";
      os << program.interface.symbols[size_t(symbol)];
      if (plus != 0)
        os << " + " << plus;
      if (divisor != 1)
        os << ") / " << divisor << ")";
    }
    if (text.empty() || constant != 0)
      os << (text.empty() ? "" : " + ") << constant;
    return text;
  }

  std::string place(int64_t offset, ArrayRef<int64_t> per) {
    std::string text = std::to_string(offset);
    for (auto [symbol, bytes] : enumerate(per))
      if (bytes != 0)
        text += " + " + std::to_string(bytes) + " * " +
                program.interface.symbols[symbol];
    return text;
  }

  std::string parameter(const BufferRef &ref) {
    const auto &[arguments, results, symbols, cSymbols] = program.interface;
    if (ref.kind == BufferRef::Dims)
      return "dims";
    if (ref.kind == BufferRef::Arena)
      return "arena + " + place(ref.offset, ref.per);
    size_t index = size_t(ref.index);
    return index < arguments.size() ? arguments[index].name
                                    : results[index - arguments.size()].name;
  }

  void head(raw_ostream &os) {
    const Plan &plan = program.plan;
    os << "// Code for " << program.arch
       << ". Launches, one after the other:\n";
    for (auto [i, launch] : enumerate(plan.launches)) {
      os << "//   " << i + 1 << ": " << launch.symbol << "(";
      for (auto [k, buffer] : enumerate(launch.buffers))
        os << (k ? ", " : "") << parameter(buffer);
      os << ")\n";
    }
    os << "// The arena has " << place(plan.arenaBytes, plan.arenaPer)
       << " bytes";
    for (const runtime::SizeFormula &workspace : plan.workspaces)
      os << ", and then " << formula(workspace.constant, workspace.terms);
    os << ".";
    if (plan.symbols > 0) {
      os << " dims are, as i64 in the GPU's memory:";
      for (const std::string &symbol : program.interface.symbols)
        os << " " << symbol;
      os << ".";
    }
    for (auto [i, alias] : enumerate(plan.aliases))
      if (alias >= 0)
        os << "\n// " << program.interface.results[i].name
           << " takes the memory of "
           << program.interface.arguments[size_t(alias)].name << ".";
    os << "\n\n";
  }

  void kernel(raw_ostream &os, StringRef symbol) {
    const LaunchInfo *info = infos.lookup(symbol);
    if (!info)
      return;
    os << "\n// " << symbol << ": blocks of " << info->threads
       << " threads, with " << info->sharedBytes
       << " bytes of dynamic shared memory\n";
    for (auto [i, launch] : enumerate(program.plan.launches))
      if (launch.symbol == symbol)
        os << "//   launch " << i + 1 << ": "
           << formula(launch.tiles, launch.tileTerms) << " blocks"
           << (launch.place.empty() ? "" : ", " + launch.place) << "\n";
  }

  const PtxProgram &program;
  StringMap<const LaunchInfo *> infos;
  std::string result;
};

} // namespace

std::string listPtx(const PtxProgram &program) {
  return Listing(program).text();
}

} // namespace tessera::lowering
