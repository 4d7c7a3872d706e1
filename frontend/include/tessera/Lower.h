// Looking inside: a function's program in every stage, its plan and its cost.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tessera {

/// The stages of a program. The first four are one text, the others one for
/// each kernel.
enum class Stage {
  trace,   ///< what was recorded, in the order of the calls
  tensor,  ///< simplified
  kernels, ///< what is fused with what
  plan,    ///< where every value lies
  loops,   ///< loops over vectors and memory
  llvm,    ///< LLVM IR, after LLVM's passes
  code     ///< assembly
};

/// What a program's kernels do if each reads its inputs and writes its outputs
/// once.
struct Cost {
  /// One for each element that an elementwise function of floats computes and
  /// that a reduction of floats takes, two for each multiplication and addition
  /// of a matrix product.
  int64_t flops = 0;
  int64_t bytes = 0;
};

/// A function's program for one signature, compiled for this machine's CPU but
/// not run. A copy is the same program.
class Lowered {
public:
  /// The program in a stage, as TESSERA_DUMP writes it: with the user's lines,
  /// and such that it parses back. Kernels come in the order of the plan, equal
  /// ones once, each under a comment with its name.
  std::string text(Stage stage) const;
  /// A page on the plan: each kernel with the user's lines, what it computes,
  /// reads and writes, its cost, and why it was fused so.
  std::string explain() const;
  Cost cost() const;

  struct State;
  explicit Lowered(std::shared_ptr<State> state) : state(std::move(state)) {}

private:
  std::shared_ptr<State> state;
};

} // namespace tessera
