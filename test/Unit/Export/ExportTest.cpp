// What export_program writes, and that it computes what jit does.
#include "test/Unit/Export/Support.h"

namespace tessera {
namespace {

struct Params {
  Tensor w, b;
  TESSERA_TREE(Params, w, b)
};
struct Nested {
  Params first;
  std::vector<Params> more;
  std::map<std::string, Tensor> named;
  TESSERA_TREE(Nested, first, more, named)
};

} // namespace

TEST_F(ExportTest, computesWhatJitDoes) {
  auto f = [](Tensor x, Tensor w, Tensor b) {
    return softmax(tanh(matmul(x, w) * 0.5f + b) - 1.f, -1);
  };
  Tensor x = numbers({7, 5}), w = numbers({5, 9}), b = numbers({9});
  export_program(path(), f, x, w, b);
  Program program = load_program(path());
  Tensor y = program(x, w, b);
  EXPECT_TRUE(sameBits(y, jit(f)(x, w, b)));
  EXPECT_TRUE(sameBits(y, program(std::vector<Tensor>{x, w, b})[0]));
  Tensor other = numbers({7, 5});
  EXPECT_TRUE(sameBits(Tensor(program(other, w, b)), jit(f)(other, w, b)));
}

TEST_F(ExportTest, interpreterGivesTheSameBits) {
  auto f = [](Tensor x) { return sum(square(x) * 3.f, 0); };
  Tensor x = numbers({33, 4});
  export_program(path(), f, x);
  Tensor expected = Tensor(load_program(path())(x)).eval();
  set_default_device(Device("reference"));
  Program program = load_program(path());
  Tensor y = program(x);
  set_default_device(Device("cpu"));
  EXPECT_TRUE(sameBits(y, expected));
}

TEST_F(ExportTest, everyDeviceWritesTheSameFile) {
  auto write = [&] {
    Tensor w = ones({3});
    auto f = [&](Tensor x) { return x * w + exp(w) * 2.f; };
    export_program(std::filesystem::path(path()), f, zeros({3}));
    return read(path()) + read(path("p.safetensors"));
  };
  std::string text = write();
  set_default_device(Device("reference"));
  std::string other = write();
  set_default_device(Device("cpu"));
  EXPECT_EQ(text, other);
}

TEST_F(ExportTest, scalarsAreBakedUnlessTheyAreArguments) {
  float rate = 0.25f;
  Tensor half = 0.5f;
  auto f = [&](Tensor x, Tensor scale, int n) {
    return x * rate + scale - half * float(n) + full({3}, 7.f);
  };
  Tensor x = numbers({3});
  export_program(path(), f, x, 2.f, 3);
  Program program = load_program(path());
  EXPECT_EQ(namesOf(program.arguments()), (Names{"x0", "x1"}));
  EXPECT_EQ(program.arguments()[1].shape, Shape{});
  EXPECT_FALSE(std::filesystem::exists(path("p.safetensors")));
  expectIn("tessera.constant", read(path()));
  for (float scale : {2.f, -3.f})
    EXPECT_TRUE(
        sameBits(Tensor(program(x, scale)), jit(f)(x, Tensor(scale), 3)));
}

TEST_F(ExportTest, constantsHoldEveryBit) {
  auto f = [](Tensor x, Tensor n, Tensor d) {
    return std::tuple(x * -0.0f, x + std::numeric_limits<float>::infinity(),
                      x + std::numeric_limits<float>::quiet_NaN(),
                      n + std::numeric_limits<int64_t>::min(), d * 0.1,
                      n == 5 && true);
  };
  Tensor x = numbers({4}), n = tensor({5, -1}, i64),
         d = numbers({2}).astype(f64);
  export_program(path(), f, x, n, d);
  auto results = load_program(path())(x, n, d);
  auto expected = leaves(jit(f)(x, n, d));
  ASSERT_EQ(results.size(), expected.size());
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_TRUE(sameBits(results[i], expected[i])) << i;
}

TEST_F(ExportTest, dtypesAndShapes) {
  auto f = [](Tensor d, Tensor n, Tensor m, Tensor p, Tensor e) {
    return std::tuple(sum(d), n + m.astype(i64), !p, where(p, d, -d), e * 2.f);
  };
  Tensor d = numbers({3}).astype(f64), n = tensor({1, 2, 3}, i64),
         m = tensor({4, 5, 6}, i32), p = numbers({3}) > 0.f, e = zeros({0, 4});
  export_program(path(), f, d, n, m, p, e);
  Program program = load_program(path());
  std::vector<DType> dtypes;
  for (auto &value : program.arguments())
    dtypes.push_back(value.dtype);
  EXPECT_EQ(dtypes, (std::vector<DType>{f64, i64, i32, boolean, f32}));
  EXPECT_EQ(program.results()[0].shape, Shape{});
  EXPECT_EQ(program.results()[2].dtype, boolean);
  EXPECT_EQ(program.results()[4].shape, (Shape{0, 4}));
  auto results = program(d, n, m, p, e);
  auto expected = leaves(jit(f)(d, n, m, p, e));
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_TRUE(sameBits(results[i], expected[i])) << i;
}

TEST_F(ExportTest, narrowFloats) {
  auto f = [](Tensor x) { return x.astype(bf16) * 1.5f; };
  Tensor x = numbers({5});
  export_program(path(), f, x);
  EXPECT_TRUE(sameBits(Tensor(load_program(path())(x)), f(x).eval()));
}

TEST_F(ExportTest, unusedRepeatedAndReturnedArguments) {
  auto f = [](Tensor unused, Tensor x, Tensor y) {
    return std::tuple(x, x, y - x);
  };
  Tensor a = numbers({2}), x = numbers({3});
  export_program(path(), f, a, x, x);
  Program program = load_program(path());
  EXPECT_EQ(program.arguments().size(), 3u);
  Tensor y = numbers({3});
  auto results = program(a, x, y);
  EXPECT_TRUE(sameBits(results[0], x));
  EXPECT_TRUE(sameBits(results[1], x));
  EXPECT_TRUE(sameBits(results[2], (y - x).eval()));
}

TEST_F(ExportTest, trees) {
  auto f = [](Nested p, std::pair<Tensor, Tensor> x) {
    Params result{p.first.w * x.first, p.first.b + x.second};
    for (Params &each : p.more)
      result.w = result.w + each.w - each.b;
    result.b = result.b * p.named.at("scale-1") + p.named.at("2");
    return result;
  };
  auto make = [&] { return numbers({4}); };
  Nested p{{make(), make()},
           {{make(), make()}, {make(), make()}},
           {{"scale-1", make()}, {"2", make()}}};
  std::pair x(make(), make());
  export_program(path(), f, p, x);
  Program program = load_program(path());
  EXPECT_EQ(namesOf(program.arguments()),
            (Names{"x0.first.w", "x0.first.b", "x0.more_0.w", "x0.more_0.b",
                   "x0.more_1.w", "x0.more_1.b", "x0.named_2",
                   "x0.named.scale_1", "x1_0", "x1_1"}));
  EXPECT_EQ(namesOf(program.results()), (Names{"y.w", "y.b"}));
  std::vector<Tensor> given = leaves(p);
  given.insert(given.end(), {x.first, x.second});
  auto results = program(given);
  Params expected = jit(f)(p, x);
  EXPECT_TRUE(sameBits(results[0], expected.w));
  EXPECT_TRUE(sameBits(results[1], expected.b));
}

TEST_F(ExportTest, capturedTensorsAreWeights) {
  Tensor w = numbers({3, 2}), lazy = numbers({2}) * 2.f;
  auto f = [&](Tensor x) { return matmul(x, w) + lazy; };
  Tensor x = numbers({4, 3});
  export_program(path(), f, x);
  auto weights = io::load(path("p.safetensors"));
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_TRUE(sameBits(weights.at("captured0"), w));
  EXPECT_TRUE(sameBits(weights.at("captured1"), lazy));
  Program program = load_program(path());
  EXPECT_EQ(namesOf(program.arguments()), Names{"x0"});
  EXPECT_TRUE(sameBits(Tensor(program(x)), jit(f)(x)));
}

TEST_F(ExportTest, gradientsAndRandomNumbers) {
  auto f = [](Tensor x) {
    auto [value, dx] = value_and_grad([](Tensor x) {
      return sum(square(x) * random::uniform(random::key(5), {6}));
    })(x);
    return std::pair(value, dx);
  };
  Tensor x = numbers({6});
  export_program(path(), f, x);
  auto results = load_program(path())(x);
  auto [value, dx] = jit(f)(x);
  EXPECT_TRUE(sameBits(results[0], value));
  EXPECT_TRUE(sameBits(results[1], dx));
}

TEST_F(ExportTest, donatedArgumentsGiveTheirMemory) {
  auto f = [](Tensor x, Tensor y) { return exp(x) * y; };
  Tensor y = numbers({5000});
  export_program(path(), ExportOptions{.donate = {0}}, f, y, y);
  expectIn("tessera.donate", read(path()));
  Program program = load_program(path());
  Tensor x = numbers({5000});
  Tensor expected = jit(f)(x, y);
  const void *memory = x.bytes().data();
  Tensor result = program(x, y);
  EXPECT_EQ(result.bytes().data(), memory);
  EXPECT_TRUE(sameBits(result, expected));
  expectIn("donated", errorOf<ValueError>([&] { x.eval(); }));
  expectIn("donated", errorOf<ValueError>([&] { program(x, y); }));
}

TEST_F(ExportTest, keepsTheUsersLines) {
  unsigned line = __LINE__ + 1;
  auto f = [](Tensor x) { return exp(x); };
  export_program(path(), f, numbers({2}));
  expectIn("ExportTest.cpp\":" + std::to_string(line) + ":", read(path()));
  EXPECT_EQ(read(path()).find("loc(unknown)"), std::string::npos);
}

TEST_F(ExportTest, nothingIsComputedOrAssigned) {
  Variable v = numbers({3});
  Tensor before = v.value();
  export_program(path(), [&](Tensor x) { v = v + x; }, numbers({3}));
  EXPECT_TRUE(sameBits(v, before));
  EXPECT_TRUE(load_program(path())(numbers({3})).empty());
}

TEST_F(ExportTest, functionsThatCannotBeExported) {
  Tensor x = numbers({3});
  unsigned line = __LINE__ + 2;
  std::string text =
      errorOf<ValueError>([&] { export_program(path(), [](Tensor) {}, x); });
  expectIn("ExportTest.cpp:" + std::to_string(line) +
               ": [export_program] the function returns and assigns nothing",
           text);
  expectIn("empty tensor", errorOf<ValueError>([&] {
             export_program(path(), [](Tensor) { return Tensor(); }, x);
           }));
  Variable v = numbers({3});
  expectIn("another type", errorOf<ValueError>([&] {
             export_program(path(), [&](Tensor x) { v = sum(x); }, x);
           }));
  EXPECT_THROW(export_program(
                   path(), [](Tensor x) { return x * x.item<float>(); }, x),
               TraceError);
  EXPECT_THROW(
      export_program(path(), [](Tensor x) { return x; }, Tensor()), ValueError);
  expectIn("argument 1 is to be donated", errorOf<ValueError>([&] {
             export_program(
                 path(), ExportOptions{.donate = {1}},
                 [](Tensor x) { return x + 1.f; }, x);
           }));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(ExportTest, filesThatCannotBeWritten) {
  Tensor x = numbers({3}), w = numbers({3});
  auto f = [&](Tensor x) { return x * w; };
  unsigned line = __LINE__ + 2;
  std::string text =
      errorOf<IoError>([&] { export_program(path("no/such/p.mlir"), f, x); });
  expectIn("ExportTest.cpp:" + std::to_string(line) + ": [export_program]",
           text);
  expectIn("no/such/p", text);
  // The weights' file goes again when the program's cannot be written.
  std::filesystem::create_directories(path("p.mlir"));
  EXPECT_THROW(export_program(path(), f, x), IoError);
  EXPECT_FALSE(std::filesystem::exists(path("p.safetensors")));
  EXPECT_THROW(export_program(path("p.safetensors"), f, x), ValueError);
}

TEST_F(ExportTest, replacesFiles) {
  export_program(path(), [](Tensor x) { return x + 1.f; }, zeros({2}));
  export_program(path(), [](Tensor x) { return x - 1.f; }, zeros({3}));
  EXPECT_EQ(Tensor(load_program(path())(zeros({3}))).to_vector<float>(),
            (std::vector<float>{-1, -1, -1}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

} // namespace tessera
