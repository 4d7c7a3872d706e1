// Functions of neural networks.
#pragma once

#include "tessera/Tensor.h"

namespace tessera {

/// x where it is above 0, else 0; its derivative at 0 is 0. NaN stays NaN.
Tensor relu(const Operand &x);
/// 1 / (1 + exp(-x))
Tensor sigmoid(const Operand &x);
/// x * sigmoid(x)
Tensor silu(const Operand &x);
/// x times the normal distribution function, by erf, or approximated by tanh:
/// Hendrycks and Gimpel, "Gaussian error linear units", 2016.
Tensor gelu(const Operand &x, bool approximate = false);
/// log(1 + exp(x))
Tensor softplus(const Operand &x);
/// exp(x) / sum(exp(x)) along an axis.
Tensor softmax(const Operand &x, int64_t axis = -1);
Tensor log_softmax(const Operand &x, int64_t axis = -1);
/// (x - mean) / sqrt(variance + epsilon) over the last `dims` dimensions, then
/// times weight, plus bias.
Tensor layer_norm(const Operand &x, const std::optional<Operand> &weight = none,
                  const std::optional<Operand> &bias = none,
                  double epsilon = 1e-5, int64_t dims = 1);
/// x / sqrt(mean of squares + epsilon) over the last dimension, times weight.
Tensor rms_norm(const Operand &x, const std::optional<Operand> &weight = none,
                double epsilon = 1e-6);
/// The mean over all labels of -log_softmax(logits)[label]. The labels are
/// integers with the shape of the logits less the last dimension, which holds
/// the classes; a label that is no class gives NaN.
Tensor cross_entropy(const Operand &logits, const Operand &labels);

} // namespace tessera
