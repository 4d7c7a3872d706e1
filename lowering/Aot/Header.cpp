// Writes what a C programmer needs to call a compiled program.
#include "lowering/Aot/Header.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tessera::lowering {

namespace {

/// What all such headers share, once however many are included. The host is
/// that of runtime/HostAbi.h.
constexpr StringRef kCommon = R"(
#ifndef TESSERA_RUNTIME_HOSTABI_H
#define TESSERA_RUNTIME_HOSTABI_H

/* Runs the tiles [begin, end) of a step of a program. */
typedef void (*tessera_kernel_fn)(void *const *buffers, int64_t begin,
                                  int64_t end);

/* How a program may use several threads. */
typedef struct tessera_host {
  /* Calls fn on all of [0, tiles), in any order and partition and from any
   * threads, and returns when the last call has. Results are the same bits
   * whatever it does. */
  void (*parallel_for)(const struct tessera_host *host, tessera_kernel_fn fn,
                       void *const *buffers, int64_t tiles);
  void *context; /* yours */
  int64_t threads; /* yours */
} tessera_host;

#endif

#ifndef TESSERA_PROGRAM_H
#define TESSERA_PROGRAM_H

/* What a call returns in the low byte; above it is the number of the field
 * that it is about. */
enum tessera_error {
  TESSERA_OK = 0,
  TESSERA_NULL_FIELD = 1,       /* a field is a null pointer */
  TESSERA_MISALIGNED_FIELD = 2, /* a field is not aligned to its elements */
  TESSERA_NULL_ARENA = 3,
  TESSERA_MISALIGNED_ARENA = 4, /* it must be aligned to 64 bytes */
  TESSERA_CPU = 5,              /* this CPU lacks instructions of the code */
  TESSERA_WEIGHTS_FILE = 6      /* not the file that the program was made with */
};

enum tessera_use { TESSERA_READ = 1, TESSERA_WRITTEN = 2, TESSERA_WEIGHT = 4 };

/* A field of a program's struct, for code that serves any program. */
struct tessera_tensor {
  const char *name, *dtype; /* "image", "f32" */
  int64_t bytes;
  int32_t rank, use; /* of enum tessera_use, added up */
  const int64_t *shape;
};

struct tessera_program {
  const char *name, *hash;
  int64_t arena_bytes, arena_alignment, count;
  const struct tessera_tensor *tensors;
  /* buffers is the program's struct, which is an array of pointers. */
  int (*run)(const void *buffers, void *arena, const tessera_host *host);
};

static inline const char *tessera_error_text(int code) {
  switch (code & 255) {
  case TESSERA_OK: return "no error";
  case TESSERA_NULL_FIELD: return "a buffer is a null pointer";
  case TESSERA_MISALIGNED_FIELD:
    return "a buffer is not aligned to its elements";
  case TESSERA_NULL_ARENA: return "the arena is a null pointer";
  case TESSERA_MISALIGNED_ARENA:
    return "the arena is not aligned to 64 bytes";
  case TESSERA_CPU:
    return "the CPU lacks instructions that the program was compiled to";
  case TESSERA_WEIGHTS_FILE:
    return "the weights are not of the file that the program was compiled with";
  }
  return "an unknown error";
}

#endif
)";

std::string cType(mlir::Type element) {
  if (element.isF32())
    return "float";
  if (element.isF64())
    return "double";
  if (isa<mlir::FloatType>(element))
    return "uint16_t";
  if (element.isInteger(1))
    return "uint8_t";
  return "int" + std::to_string(element.getIntOrFloatBitWidth()) + "_t";
}

class HeaderWriter {
public:
  HeaderWriter(const AotProgram &program, const AotOptions &options,
               raw_ostream &os)
      : program(program), options(options), os(os), name(options.name),
        macro(StringRef(options.name).upper()) {}

  void write() {
    os << "/* " << name << ".h: the program of " << options.source
       << " as a C function. Made by tessera compile; do not edit. */\n"
       << "#ifndef " << macro << "_H\n#define " << macro
       << "_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n#ifdef "
          "__cplusplus\nextern \"C\" {\n#endif\n"
       << kCommon;
    writeMacros();
    writeStruct();
    writeFunctions();
    os << "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  }

private:
  template <typename F> void forEachField(F visit) {
    for (auto [i, argument] : enumerate(program.interface.arguments))
      if (!program.embedded[i])
        visit(argument, argument.partner >= 0 ? "in, out" : "in");
    for (const Port &result : program.interface.results)
      if (result.partner < 0)
        visit(result, "out");
  }

  void writeMacros() {
    os << "\n/* Of the program and of how it was compiled; " << name
       << "_program.hash is that of the object. */\n#define " << macro
       << "_HASH \"" << program.hash
       << "\"\n/* The memory that a call works in: no two calls at once may "
          "share it. It need not be\n * cleared, and nothing is kept in it "
          "between calls. */\n#define "
       << macro << "_ARENA_BYTES " << program.arenaBytes << "\n#define "
       << macro << "_ARENA_ALIGNMENT 64\n\n";
    forEachField([&](const Port &port, StringRef) {
      std::string prefix = macro + "_" + StringRef(port.cName).upper();
      os << "#define " << prefix << "_ELEMENTS " << port.elements() << "\n";
      if (port.type.getRank() > 0)
        os << "#define " << prefix << "_SHAPE {"
           << join(map_range(port.type.getShape(),
                             [](int64_t size) { return std::to_string(size); }),
                   ", ")
           << "}\n";
    });
  }

  void writeStruct() {
    os << "\n/* Tensors are dense and row-major, aligned to their elements, "
          "and "
          "must not overlap.";
    if (program.embeddedBytes > 0)
      os << "\n * Weights of " << program.embeddedBytes
         << " bytes are part of the object.";
    os << " */\nstruct " << name << "_buffers {\n";
    bool isEmpty = true;
    forEachField([&](const Port &port, StringRef use) {
      isEmpty = false;
      os << "  " << (use == "in" ? "const " : "")
         << cType(port.type.getElementType()) << " *" << port.cName << "; /* "
         << use << (port.isWeight ? ", a weight" : "") << ": "
         << typeName(port.type);
      if (port.name != port.cName)
        os << ", \"" << port.name << "\"";
      os << " */\n";
    });
    if (isEmpty)
      os << "  void *unused;\n";
    os << "};\n";
  }

  void writeFunctions() {
    os << "\n/* Computes one call. Returns 0, or an error (enum tessera_error) "
          "before anything is written.\n * Allocates nothing, and may be "
          "called "
          "by several threads at once, each with an arena.\n * host may be "
          "null: then this thread does all. */\nint "
       << name << "(const struct " << name
       << "_buffers *buffers, void *arena, const tessera_host *host);\n"
       << "\nextern const struct tessera_program " << name << "_program;\n"
       << "\n/* Says what an error of " << name << "() is about: a field's "
       << "name, or \"\". */\nstatic inline const char *" << name
       << "_error_field(int code) {\n  int kind = code & 255;\n  return kind "
          "== TESSERA_NULL_FIELD || kind == TESSERA_MISALIGNED_FIELD\n"
          "             ? "
       << name << "_program.tensors[code >> 8].name\n             : \"\";\n}\n";
    if (options.weightsFileBytes > 0)
      writeBinding();
  }

  /// Where each weight lies is known, so that no parser is needed.
  void writeBinding() {
    bool any = false;
    forEachField([&](const Port &port, StringRef) { any |= port.isWeight; });
    if (!any)
      return;
    os << "\n/* Sets the fields of the weights to where they are in the bytes "
          "of the weights file,\n * mapped or read, at an address of 8 bytes' "
          "alignment. Those that are \"in, out\" are\n * overwritten there. "
          "Returns 0 or an error. */\nstatic inline int "
       << name << "_bind_weights(struct " << name
       << "_buffers *buffers, void *file, size_t bytes) {\n  char *data = "
          "(char *)file;\n  if (data == NULL || bytes != "
       << options.weightsFileBytes << "u)\n    return TESSERA_WEIGHTS_FILE;\n";
    forEachField([&](const Port &port, StringRef use) {
      if (!port.isWeight)
        return;
      os << "  buffers->" << port.cName << " = ("
         << (use == "in" ? "const " : "") << cType(port.type.getElementType())
         << " *)(void *)(data + "
         << options.weights.lookup(port.name).fileOffset << ");\n";
    });
    os << "  return TESSERA_OK;\n}\n";
  }

  const AotProgram &program;
  const AotOptions &options;
  raw_ostream &os;
  StringRef name;
  std::string macro;
};

} // namespace

std::string headerOf(const AotProgram &program, const AotOptions &options) {
  std::string text;
  raw_string_ostream os(text);
  HeaderWriter(program, options, os).write();
  return text;
}

} // namespace tessera::lowering
