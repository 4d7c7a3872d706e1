// Optimisers: rules that change a module's parameters by their gradients. Their
// hyperparameters and state are variables, so that inside jit a step is part of
// the program, and a changed rate compiles nothing anew.
#pragma once

#include "tessera/Module.h"

namespace tessera::optim {

/// What all optimisers do with parameters and gradients by name.
class Optimizer {
public:
  virtual ~Optimizer() = default;
  /// Changes each parameter of a module that has a gradient. Throws ValueError
  /// for a gradient without a parameter.
  void step(nn::Module &module, const nn::TensorMap &gradients,
            std::source_location place = std::source_location::current());
  /// The values of the state, by name.
  nn::TensorMap state_dict() const;

protected:
  /// Called once a step, before the parameters are updated.
  virtual void begin() {}
  virtual void update(const std::string &name, Variable &parameter,
                      const Tensor &gradient) = 0;
  /// The state of a parameter under a name, at first zeros of its type.
  Variable &state(const std::string &name, const Tensor &like);

  std::map<std::string, Variable> states;
};

struct SgdOptions {
  float lr = 1e-2f;
  float momentum = 0;
  float weight_decay = 0;
};

/// p -= lr * v, where v = momentum * v + g + weight_decay * p.
class SGD : public Optimizer {
public:
  explicit SGD(SgdOptions options = {});
  Variable lr, momentum, weight_decay;

private:
  void update(const std::string &name, Variable &parameter,
              const Tensor &gradient) override;
  bool hasMomentum, hasDecay;
};

struct AdamOptions {
  float lr = 1e-3f;
  float beta1 = 0.9f, beta2 = 0.999f;
  float eps = 1e-8f;
  float weight_decay = 0;
};

/// Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2015).
/// Weight decay is added to the gradient.
class Adam : public Optimizer {
public:
  explicit Adam(AdamOptions options = {});
  Variable lr, beta1, beta2, eps, weight_decay;

protected:
  void begin() override;
  void update(const std::string &name, Variable &parameter,
              const Tensor &gradient) override;
  /// Adds the decay to the gradient, or takes it off the parameter.
  virtual Tensor decayed(Variable &parameter, const Tensor &gradient);
  bool hasDecay;

private:
  Tensor rest1, rest2; ///< 1 - beta1 and 1 - beta2
  Tensor rate, scale;  ///< of this step, with the corrections for its number
};

/// Adam with the decay taken off the parameter itself (Loshchilov and Hutter,
/// "Decoupled weight decay regularization", 2019).
class AdamW : public Adam {
public:
  explicit AdamW(AdamOptions options = {.weight_decay = 1e-2f})
      : Adam(options) {}

private:
  Tensor decayed(Variable &parameter, const Tensor &gradient) override;
};

} // namespace tessera::optim
