// A program that is called with tensors and variables: what jit makes of a
// function, and load_program of a file.
#pragma once

#include "frontend/Cells.h"
#include "runtime/Executable.h"
#include "tessera/Jit.h"

namespace tessera::detail {

/// Where a program finds the bytes of an input. A loan is a variable that the
/// program also writes, so that the bytes may be overwritten.
struct Source {
  enum Kind { Argument, Variable, Loan, Bound } kind;
  size_t index = 0; ///< of the argument or the variable
  runtime::Storage bytes = {};
};

struct ValueType {
  Shape shape;
  DType dtype;
};

class CompiledProgram : public JitProgram {
public:
  void run(const JitCall &call, std::span<Tensor> results, int threads,
           std::source_location place) const override;

  /// Makes a loan of an input that is a variable, and the `index`-th that is
  /// written.
  void lend(size_t source, size_t index);

  const char *name = "jit";  ///< what errors say was called
  Device device;             ///< of all its tensors
  std::source_location made; ///< where the program was
  std::vector<Source> sources;
  std::vector<std::shared_ptr<Cell>> cells, written;
  std::vector<ValueType> cellTypes; ///< of `cells`, when they were traced
  std::vector<ValueType> outputs;   ///< results, then written variables
  /// An input that is a loan, and its cell's place in `written`; by increasing
  /// address of the cell.
  struct Loan {
    size_t source, written;
  };
  std::vector<Loan> loans;
  size_t numResults = 0;
  std::shared_ptr<runtime::Executable> executable; ///< null without outputs
  /// Compiled for every batch size.
  bool symbolic = false;
};

} // namespace tessera::detail
