// Tensors and gradients: fits a line to points.
#include <iostream>
#include <tessera/tessera.h>

using namespace tessera;

int main() {
  Tensor x = tensor({0.f, 1.f, 2.f, 3.f}), y = tensor({1.f, 3.f, 5.f, 7.f});
  auto loss = [&](Tensor w, Tensor b) { return mean(square(w * x + b - y)); };

  // Derivatives of a function...
  auto step = value_and_grad(loss, argnums{0, 1});
  Tensor w = 0.f, b = 0.f;
  for (int i = 0; i < 500; ++i) {
    auto [value, grads] = step(w, b);
    w = w - 0.1f * grads[0];
    b = b - 0.1f * grads[1];
    eval(w, b);
  }
  std::cout << "w = " << w << ", b = " << b << "\n";

  // ... and of recorded values.
  Tensor v = tensor({1.f, 2.f, 3.f});
  v.requires_grad(true);
  Tensor norm = sqrt(sum(square(v)));
  norm.backward();
  std::cout << "d|v|/dv = " << v.grad() << "\n";
}
