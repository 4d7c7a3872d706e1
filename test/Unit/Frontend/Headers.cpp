// The public headers as a user's program includes them: another compiler,
// without RTTI, all warnings on.
#include <tessera/tessera.h>

#include <iostream>

using namespace tessera;

struct Params {
  Tensor w, b;
  int n = 3;
  TESSERA_TREE(Params, w, b, n)
};

Tensor use(const Tensor &x) {
  Tensor y = (relu(x) + 1.f - tessera::std(x)).index(0, slice(none, none, -1));
  Params g = grad([](Params p) { return sum(p.w * p.b); })(Params{x, y});
  auto [dw] =
      grad([](Tensor a, Tensor b) { return sum(a * b); }, argnums{1})(x, y);
  std::map<std::string, std::vector<Tensor>> tree{{"a", {x, dw}}};
  eval(tree);
  auto step =
      jit([](Params p, Tensor x, int n) { return std::pair(p.w * x, n * p.b); },
          {.donate = {0}});
  step(g, y, 2);
  export_program(
      "p.mlir", ExportOptions{.donate = {1}},
      [](Params p, Tensor x) { return p.w * x; }, g, y);
  Tensor z = load_program("p.mlir")(g.w, g.b, 2.f);
  std::cout << y << int(y.dtype() == f32 && x.shape() != Shape{2, 3}) << "\n";
  return where(x == y && !(x < 2) || x != 1, g.w, g.b);
}
