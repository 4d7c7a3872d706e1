// Newton's method in two dimensions with hessian(f): finds the minimum of the
// Rosenbrock function.
#include <iostream>
#include <tessera/tessera.h>

using namespace tessera;

int main() {
  auto f = [](Tensor p) {
    Tensor x = p[0], y = p[1];
    return square(1.f - x) + 100.f * square(y - square(x));
  };
  auto gradient = grad(f);
  auto curvature = hessian(f);
  Tensor p = tensor({-1.2, 1.0}, f64);
  for (int i = 0; i < 8; ++i) {
    Tensor g = gradient(p), h = curvature(p);
    // The inverse of a 2x2 matrix.
    Tensor a = h.index(0, 0), b = h.index(0, 1), d = h.index(1, 1);
    Tensor determinant = a * d - b * b;
    Tensor move = stack({(d * g[0] - b * g[1]) / determinant,
                         (a * g[1] - b * g[0]) / determinant});
    p = (p - move).eval();
    std::cout << "step " << i + 1 << ": p = " << p << ", f = " << f(p) << "\n";
  }
}
