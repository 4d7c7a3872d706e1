// Modules: parameters and the functions that use them.
#pragma once

#include "tessera/Autodiff.h"
#include "tessera/Random.h"

namespace tessera::nn {

/// Tensors by name: "a.weight".
using TensorMap = std::map<std::string, Tensor>;

/// A model or a part of one: a struct with variables and other modules as
/// fields, which it names with TESSERA_TREE. A copy has parameters of its own.
struct Module : detail::ModuleBase {
  /// The values of all variables of floats, by name.
  TensorMap named_parameters();
  /// The values of all variables, by name.
  TensorMap state_dict();
  /// Sets variables by name. Throws ValueError for a name that the module lacks
  /// or a variable that the map lacks, unless `strict` is false, and ShapeError
  /// for a value of another type.
  void
  load_state_dict(const TensorMap &values, bool strict = true,
                  std::source_location place = std::source_location::current());
  /// Puts this module and those below into training or out of it.
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return training; }

private:
  bool training = true;
};

/// x W^T + b for x of [..., in]; W is [out, in] and b is [out], both at first
/// uniform in ±1/sqrt(in).
struct Linear : Module {
  Linear(int64_t in, int64_t out, bool bias = true,
         std::source_location place = std::source_location::current());
  Tensor operator()(const Operand &x) const;

  Variable weight, bias;
  TESSERA_TREE(Linear, weight, bias)
};

} // namespace tessera::nn
