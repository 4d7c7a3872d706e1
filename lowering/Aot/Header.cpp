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

/* What a call returns in the low byte; above it is the number of the field, or
 * of the symbolic dimension, that it is about. */
enum tessera_error {
  TESSERA_OK = 0,
  TESSERA_NULL_FIELD = 1,       /* a field is a null pointer */
  TESSERA_MISALIGNED_FIELD = 2, /* a field is not aligned to its elements */
  TESSERA_NULL_ARENA = 3,
  TESSERA_MISALIGNED_ARENA = 4, /* it must be aligned to 64 bytes */
  TESSERA_CPU = 5,              /* this CPU lacks instructions of the code */
  TESSERA_WEIGHTS_FILE = 6,     /* not the file that the program was made with */
  TESSERA_NULL_DIMS = 7,
  TESSERA_SIZE = 8 /* a symbolic dimension is too small or too large */
};

enum tessera_use { TESSERA_READ = 1, TESSERA_WRITTEN = 2, TESSERA_WEIGHT = 4 };

/* A field of a program's struct, for code that serves any program. */
struct tessera_tensor {
  const char *name, *dtype; /* "image", "f32" */
  int64_t bytes; /* of one index of the symbolic dimension, if it has one */
  int32_t rank, use; /* of enum tessera_use, added up */
  const int64_t *shape; /* -1 for the symbolic dimension */
  /* Dimension symbolic_dim, or none if it is -1, is coefficient times the size
   * of the symbol, plus constant. */
  int64_t symbolic_dim, symbol, coefficient, constant;
};

/* A symbolic dimension. */
struct tessera_symbol {
  const char *name;
  int64_t least, most;
  const char *range; /* "at least ... and at most ...", with the reason */
};

struct tessera_program {
  const char *name, *hash;
  int64_t arena_bytes; /* -1 if they depend on the symbolic dimensions */
  int64_t arena_alignment, count;
  const struct tessera_tensor *tensors;
  int64_t symbol_count;
  const struct tessera_symbol *symbols;
  /* For these symbolic dimensions, or -1 if one does not fit. Null for a
   * program without any. */
  int64_t (*arena_bytes_for)(const void *dims);
  /* buffers and dims are the program's structs, which are arrays of pointers
   * and of sizes. dims may be null for a program without symbolic dimensions. */
  int (*run)(const void *buffers, const void *dims, void *arena,
             const tessera_host *host);
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
  case TESSERA_NULL_DIMS: return "the symbolic dimensions are a null pointer";
  case TESSERA_SIZE: return "a symbolic dimension is too small or too large";
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
    if (isSymbolic())
      writeDims();
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

  bool isSymbolic() const { return !program.symbols.empty(); }

  const std::string &symbolOf(const Port &port) const {
    return program.interface.cSymbols[size_t(port.symbolic->symbol)];
  }

  /// A size as a C expression.
  std::string expression(const runtime::SymbolicDim &dim) {
    const std::string &symbol = program.interface.cSymbols[size_t(dim.symbol)];
    bool isPlain = dim.coefficient == 1 && dim.constant == 0;
    std::string text = sizeName(dim, "(int64_t)(" + symbol + ")");
    return isPlain ? text : "(" + text + ")";
  }

  /// As typeName(), with names for symbolic dimensions.
  std::string typeText(const Port &port) {
    std::string text = typeName(port.type);
    if (!port.symbolic)
      return text;
    size_t mark = text.find('?');
    return text.substr(0, mark) + sizeName(*port.symbolic, symbolOf(port)) +
           text.substr(mark + 1);
  }

  void writeMacros() {
    os << "\n/* Of the program and of how it was compiled; " << name
       << "_program.hash is that of the object. */\n#define " << macro
       << "_HASH \"" << program.hash << "\"\n";
    os << "/* The memory that a call works in: no two calls at once may "
          "share it. It need not be\n * cleared, and nothing is kept in it "
          "between calls.";
    if (isSymbolic())
      os << " " << name << "_arena_bytes() tells how much it is. */\n";
    else
      os << " */\n#define " << macro << "_ARENA_BYTES " << program.arenaBytes
         << "\n";
    os << "#define " << macro << "_ARENA_ALIGNMENT 64\n\n";
    forEachField([&](const Port &port, StringRef) { writePortMacros(port); });
  }

  /// Elements and shape; for a symbolic dimension as macros of the symbol.
  void writePortMacros(const Port &port) {
    std::string prefix = macro + "_" + StringRef(port.cName).upper();
    std::string of = port.symbolic ? "(" + symbolOf(port) + ")" : "";
    os << "#define " << prefix << "_ELEMENTS" << of << " ";
    if (port.symbolic)
      os << "(" << expression(*port.symbolic) << " * " << port.elements()
         << ")\n";
    else
      os << port.elements() << "\n";
    if (port.type.getRank() == 0)
      return;
    os << "#define " << prefix << "_SHAPE" << of << " {"
       << join(map_range(port.type.getShape(),
                         [&](int64_t size) {
                           return mlir::ShapedType::isDynamic(size)
                                      ? expression(*port.symbolic)
                                      : std::to_string(size);
                         }),
               ", ")
       << "}\n";
  }

  void writeDims() {
    os << "\n/* The sizes of the symbolic dimensions. */\nstruct " << name
       << "_dims {\n";
    for (auto [symbol, field] :
         zip_equal(program.symbols, program.interface.cSymbols))
      os << "  int64_t " << field << "; /* " << commentText(symbol.rangeText())
         << " */\n";
    os << "};\n";
  }

  /// What may stand in a comment.
  static std::string commentText(std::string text) {
    for (size_t at; (at = text.find("*/")) != std::string::npos;)
      text.replace(at, 2, "* /");
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
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
         << typeText(port);
      if (port.name != port.cName)
        os << ", \"" << port.name << "\"";
      os << " */\n";
    });
    if (isEmpty)
      os << "  void *unused;\n";
    os << "};\n";
  }

  void writeFunctions() {
    if (isSymbolic())
      os << "\n/* The bytes of the arena for these sizes, or -1 if one does "
            "not "
            "fit. */\nint64_t "
         << name << "_arena_bytes(const struct " << name << "_dims *dims);\n";
    os << "\n/* Computes one call. Returns 0, or an error (enum tessera_error) "
          "before anything is written.\n * Allocates nothing, and may be "
          "called by several threads at once, each with an arena.\n * host may "
          "be null: then this thread does all. */\nint "
       << name << "(const struct " << name << "_buffers *buffers, ";
    if (isSymbolic())
      os << "const struct " << name << "_dims *dims, ";
    os << "void *arena, const tessera_host *host);\n"
       << "\nextern const struct tessera_program " << name << "_program;\n";
    writeErrors();
    if (options.weightsFileBytes > 0)
      writeBinding();
  }

  void writeErrors() {
    os << "\n/* Says what an error of " << name << "() is about: the name of a "
       << "field" << (isSymbolic() ? " or a symbolic dimension" : "")
       << ", or \"\". */\nstatic inline const char *" << name
       << "_error_field(int code) {\n  int kind = code & 255;\n";
    if (isSymbolic())
      os << "  if (kind == TESSERA_SIZE)\n    return " << name
         << "_program.symbols[code >> 8].name;\n";
    os << "  return kind == TESSERA_NULL_FIELD || kind == "
          "TESSERA_MISALIGNED_FIELD\n             ? "
       << name << "_program.tensors[code >> 8].name\n             : \"\";\n}\n";
    if (isSymbolic())
      os << "\n/* What a symbolic dimension must be if it was wrong, else "
            "\"\". */\nstatic inline const char *"
         << name
         << "_error_range(int code) {\n  return (code & 255) == TESSERA_SIZE ? "
         << name << "_program.symbols[code >> 8].range : \"\";\n}\n";
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
