// What a user may write first: eager code, a gradient, a compiled step with
// state, an error, and a look inside.
#include <iostream>
#include <tessera/tessera.h>

using namespace tessera;

int main() {
  Tensor x = tensor({{1.f, 2.f}, {3.f, 4.f}});
  Tensor g = grad([](Tensor v) { return sum(square(v)); })(x);
  Variable steps = 0.f;
  auto step = jit([&](Tensor v) {
    steps = steps + 1.f;
    return matmul(v, v) * steps;
  });
  step(x);
  std::cout << g << "\n" << step(x) << "\n";
  try {
    matmul(x, zeros({3, 3}));
  } catch (const ShapeError &error) {
    std::cout << error.what() << "\n";
  }
  std::cout << lower(step, x).cost().flops << "\n";
}
