// The update rules.
#include "tessera/Optim.h"

#include "frontend/Devices.h"
#include "frontend/Recording.h"
#include "tessera/Elementwise.h"
#include "tessera/Scope.h"

namespace tessera::optim {

void Optimizer::step(nn::Module &module, const nn::TensorMap &gradients,
                     std::source_location place) {
  detail::LocationScope scope(place);
  std::map<std::string, Variable *> parameters;
  module.tessera_variables([&](const std::string &name, Variable &variable) {
    parameters[name] = &variable;
  });
  for (auto &[name, gradient] : gradients)
    if (!parameters.contains(name))
      throw ValueError(detail::errorPlace(place), "step",
                       "there is no parameter \"" + name + "\"");
  begin();
  for (auto &[name, gradient] : gradients)
    update(name, *parameters[name], gradient);
}

nn::TensorMap Optimizer::state_dict() const {
  nn::TensorMap map;
  for (auto &[name, variable] : states)
    map[name] = variable;
  return map;
}

/// Zeros with bytes of their own, also while a function is traced: state begins
/// before the first step, not in it.
Variable &Optimizer::state(const std::string &name, const Tensor &like) {
  auto it = states.find(name);
  if (it == states.end()) {
    std::vector<std::byte> zeros(size_t(like.size()) *
                                 runtime::bytesOf(like.dtype()));
    auto storage = runtime::Storage::allocate(zeros.size());
    std::copy(zeros.begin(), zeros.end(),
              static_cast<std::byte *>(storage.data()));
    it = states
             .emplace(name, detail::makeTensor(
                                detail::bytesOn(storage, like.device(), "step",
                                                std::source_location()),
                                like.shape(), like.dtype(), like.device()))
             .first;
    detail::nameCell(it->second, name);
  }
  return it->second;
}

SGD::SGD(SgdOptions options)
    : lr(options.lr), momentum(options.momentum),
      weight_decay(options.weight_decay), hasMomentum(options.momentum != 0),
      hasDecay(options.weight_decay != 0) {
  detail::nameCell(lr, "lr");
  detail::nameCell(momentum, "momentum");
  detail::nameCell(weight_decay, "weight_decay");
}

void SGD::update(const std::string &name, Variable &parameter,
                 const Tensor &gradient) {
  Tensor g = gradient, p = parameter;
  if (hasDecay)
    g = g + weight_decay * p;
  if (hasMomentum) {
    Variable &velocity = state(name, p);
    velocity = momentum * velocity + g;
    g = velocity;
  }
  parameter = p - lr * g;
}

Adam::Adam(AdamOptions options)
    : lr(options.lr), beta1(options.beta1), beta2(options.beta2),
      eps(options.eps), weight_decay(options.weight_decay),
      hasDecay(options.weight_decay != 0) {
  states["steps"] = 0.f;
  detail::nameCell(states["steps"], "steps");
  detail::nameCell(lr, "lr");
  detail::nameCell(beta1, "beta1");
  detail::nameCell(beta2, "beta2");
  detail::nameCell(eps, "eps");
  detail::nameCell(weight_decay, "weight_decay");
}

void Adam::begin() {
  Variable &steps = states["steps"];
  steps = steps + 1.f;
  rest1 = 1.f - beta1;
  rest2 = 1.f - beta2;
  rate = lr / (1.f - pow(beta1, steps));
  scale = rsqrt(1.f - pow(beta2, steps));
}

Tensor Adam::decayed(Variable &parameter, const Tensor &gradient) {
  return gradient + weight_decay * parameter;
}

Tensor AdamW::decayed(Variable &parameter, const Tensor &gradient) {
  parameter = parameter - lr * weight_decay * parameter;
  return gradient;
}

void Adam::update(const std::string &name, Variable &parameter,
                  const Tensor &gradient) {
  Tensor g = hasDecay ? decayed(parameter, gradient) : gradient;
  Variable &m = state(name + ".m", g), &v = state(name + ".v", g);
  m = beta1 * m + rest1 * g;
  v = beta2 * v + rest2 * square(g);
  parameter = parameter - rate * m / (sqrt(v) * scale + eps);
}

} // namespace tessera::optim
