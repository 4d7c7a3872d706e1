// What all modules do, and the layers of the library.
#include "tessera/Module.h"

#include "frontend/Recording.h"
#include "tessera/Elementwise.h"
#include "tessera/Product.h"
#include "tessera/Scope.h"

#include <cmath>

namespace tessera::nn {

TensorMap Module::named_parameters() {
  TensorMap map;
  tessera_variables([&](const std::string &path, Variable &variable) {
    if (variable.defined() && runtime::isFloat(variable.dtype()))
      map[path] = variable;
  });
  return map;
}

TensorMap Module::state_dict() {
  TensorMap map;
  tessera_variables([&](const std::string &path, Variable &variable) {
    if (variable.defined())
      map[path] = variable;
  });
  return map;
}

void Module::load_state_dict(const TensorMap &values, bool strict,
                             std::source_location place) {
  auto fail = [&](const std::string &message) {
    throw ValueError(detail::errorPlace(place), "load_state_dict", message);
  };
  std::map<std::string, Variable *> variables;
  tessera_variables([&](const std::string &path, Variable &variable) {
    if (variable.defined())
      variables[path] = &variable;
  });
  // Everything is checked before anything is changed.
  for (auto &[name, value] : values) {
    auto it = variables.find(name);
    if (it == variables.end()) {
      if (strict)
        fail("the module has no variable \"" + name + "\"");
      continue;
    }
    if (value.shape() != it->second->shape() ||
        value.dtype() != it->second->dtype())
      throw ShapeError(detail::errorPlace(place), "load_state_dict",
                       "\"" + name + "\" is of another type: " +
                           detail::typeText(it->second->value()) + " and " +
                           detail::typeText(value));
  }
  if (strict)
    for (auto &[name, variable] : variables)
      if (!values.contains(name))
        fail("there is no value for the variable \"" + name + "\"");
  for (auto &[name, value] : values)
    if (auto it = variables.find(name); it != variables.end())
      *it->second = value.to(it->second->value().device(), place);
}

void Module::train(bool on) {
  training = on;
  tessera_modules([&](detail::ModuleBase &child) {
    static_cast<Module &>(child).train(on);
  });
}

Linear::Linear(int64_t in, int64_t out, bool hasBias,
               std::source_location place) {
  detail::LocationScope scope(place);
  if (in < 0 || out < 0)
    throw ValueError(detail::errorPlace(place), "Linear",
                     "a size is negative: " + std::to_string(in) + " and " +
                         std::to_string(out));
  float bound = in > 0 ? 1 / std::sqrt(float(in)) : 0;
  weight = random::uniform(random::next_key(), {out, in}, -bound, bound);
  if (hasBias)
    bias = random::uniform(random::next_key(), {out}, -bound, bound);
  detail::nameCell(weight, "weight");
  detail::nameCell(bias, "bias");
}

Tensor Linear::operator()(const Operand &x) const {
  detail::LocationScope scope(x.place());
  Tensor y = matmul(x, weight.T());
  return bias.defined() ? y + bias : y;
}

} // namespace tessera::nn
