// Files that are no programs, and calls that do not fit.
#include "test/Unit/Export/Support.h"

namespace tessera {
namespace {

class LoadTest : public ExportTest {
protected:
  /// A program with a weight and state.
  void exportSome() {
    Variable v = numbers({3});
    Tensor w = numbers({3});
    export_program(
        path(),
        [&](Tensor x) {
          v = v + x;
          return x * w;
        },
        zeros({3}));
    text = read(path());
  }
  std::string errorOfLoad() {
    return errorOf<IoError>([&] { load_program(path()); });
  }
  /// What loading says when a part of the file is another.
  std::string errorAfter(const std::string &from, const std::string &to) {
    write(path(), text);
    edit(path(), from, to);
    return errorOfLoad();
  }
  std::string text;
};

} // namespace

TEST_F(LoadTest, missing) {
  unsigned line = __LINE__ + 1;
  std::string text = errorOf<IoError>([&] { load_program(path("no.mlir")); });
  expectIn("LoadTest.cpp:" + std::to_string(line) + ": [load_program]", text);
  expectIn("no.mlir", text);
  EXPECT_THROW(load_program(folder), IoError);
}

TEST_F(LoadTest, truncatedAnywhere) {
  exportSome();
  size_t locations = text.find("\n#loc");
  ASSERT_NE(locations, std::string::npos);
  for (size_t end = 0; end < text.find_last_of("}"); end += 7) {
    write(path(), text.substr(0, end));
    std::string error = errorOfLoad();
    expectIn(path(), error);
  }
  write(path(), text);
  load_program(path());
}

TEST_F(LoadTest, otherVersionsAndStages) {
  exportSome();
  expectIn(
      "the program is written for version 2",
      errorAfter("tessera.version = 1 : i64", "tessera.version = 2 : i64"));
  expectIn("version",
           errorAfter("tessera.version = 1 : i64", "tessera.version = \"1\""));
  expectIn("tessera.stage", errorAfter("tessera.stage = \"trace\"",
                                       "tessera.stage = \"later\""));
  expectIn("stage",
           errorAfter("tessera.stage = \"trace\"", "tessera.stage = \"plan\""));
  write(path(), text);
  edit(path(), "tessera.version = 1 : i64, ", "");
  load_program(path());
}

TEST_F(LoadTest, wrongPrograms) {
  exportSome();
  std::string error = errorAfter("tessera.mul", "tessera.no_such_op");
  expectIn("no_such_op", error);
  expectIn(path() + ":", error);
  expectIn("main", errorAfter("@main", "@other"));
  expectIn("have the name 'variable0'",
           errorAfter("\"captured0\"", "\"variable0\""));
  expectIn("tessera.name must be", errorAfter("\"captured0\"", "\"a b\""));
  expectIn("tessera.name must be",
           errorAfter("tessera.name = \"x0\"", "tessera.name = 1 : i64"));
  expectIn("no weight", errorAfter("tessera.updates = 1 : i64",
                                   "tessera.updates = 0 : i64"));
  for (const char *wrong : {"-1 : i64", "7 : i64", "1 : i32", "\"1\""})
    expectIn("updates", errorAfter("tessera.updates = 1 : i64",
                                   std::string("tessera.updates = ") + wrong));
  expectIn("i128", errorAfter("tensor<3xf32>", "tensor<3xi128>"));
}

TEST_F(LoadTest, hostileOnes) {
  auto errorOfText = [&](const std::string &text) {
    write(path(), text);
    try {
      load_program(path());
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  auto identity = [](const std::string &type) {
    return "func.func @main(%x: " + type + ") -> " + type +
           " {\n  return %x : " + type + "\n}\n";
  };
  expectIn("nested", errorOfText(std::string(100000, '(')));
  expectIn("p.mlir:1:", errorOfText(std::string(100000, 'a')));
  expectIn("zero byte", errorOfText(std::string(10, '\0')));
  EXPECT_NE(errorOfText(""), "no error");
  EXPECT_EQ(errorOfText(identity("tensor<?xf32>")), "no error");
  EXPECT_NE(errorOfText(identity("tensor<?x?xf32>")), "no error");
  EXPECT_NE(errorOfText(identity("tensor<?xf32, #tessera.extent<s3>>")),
            "no error");
  EXPECT_NE(
      errorOfText(identity("tensor<?xf32, #tessera.extent<-1 * s0 + 7>>")),
      "no error");
  EXPECT_NE(errorOfText(identity(
                "tensor<?xf32, #tessera.extent<4611686018427387904 * s0>>")),
            "no error");
  EXPECT_NE(errorOfText(identity("tensor<?x9223372036854775807xf32>")),
            "no error");
  EXPECT_NE(errorOfText(identity("tensor<*xf32>")), "no error");
  EXPECT_NE(errorOfText(identity("memref<4xf32>")), "no error");
  EXPECT_NE(errorOfText(identity("tensor<9223372036854775807x4xf32>")),
            "no error");
  EXPECT_EQ(errorOfText(identity("tensor<4xf32>")), "no error");
}

TEST_F(LoadTest, dumpsHaveNoNames) {
  write(
      path(),
      R"(func.func @main(%a: tensor<2xf32>, %b: tensor<f32>) -> tensor<2xf32> {
  %0 = tessera.exp %a : tensor<2xf32>
  return %0 : tensor<2xf32>
})");
  Program program = load_program(path());
  EXPECT_EQ(namesOf(program.arguments()), (Names{"x0", "x1"}));
  EXPECT_EQ(namesOf(program.results()), Names{"y"});
  EXPECT_EQ(Tensor(program(zeros({2}), 3)).to_vector<float>()[0], 1);
}

TEST_F(LoadTest, everyStageOfAProgram) {
  Tensor x = numbers({4, 6});
  auto f = [](Tensor x) { return softmax(x * 2.f, -1); };
  Tensor expected = jit(f)(x);
  Lowered lowered = lower(f, x);
  for (Stage stage :
       {Stage::trace, Stage::tensor, Stage::kernels, Stage::plan}) {
    write(path(), lowered.text(stage));
    Program program = load_program(path());
    std::vector<Tensor> given{x};
    if (program.arguments().size() == 2) // a number, which lower() leaves
      given.insert(
          given.begin() + (program.arguments()[0].shape.empty() ? 0 : 1), 2.f);
    EXPECT_TRUE(sameBits(Tensor(program(given)), expected));
  }
}

TEST_F(LoadTest, weightsThatDoNotFit) {
  exportSome();
  std::string file = path("p.safetensors");
  nn::TensorMap weights = io::load(file);
  auto errorWith = [&](nn::TensorMap changed) {
    io::save(file, changed);
    return errorOfLoad();
  };
  nn::TensorMap fewer = weights;
  fewer.erase("captured0");
  std::string error = errorWith(fewer);
  expectIn("p.safetensors: there is no tensor captured0, a f32[3] of", error);
  nn::TensorMap other = weights;
  other["captured0"] = zeros({4});
  expectIn("f32[4] and f32[3]", errorWith(other));
  other["captured0"] = zeros({3}, f64);
  expectIn("f64[3] and f32[3]", errorWith(other));
  other = weights;
  other["another"] = zeros({4}); // one file may serve several programs
  io::save(file, other);
  load_program(path());
  write(file, "short");
  expectIn("p.safetensors", errorOfLoad());
  std::filesystem::remove(file);
  expectIn("p.safetensors", errorOfLoad());
  expectIn("does not name a file",
           errorAfter(", tessera.weights = \"p.safetensors\"", ""));
  // The weights are beside the program: a program reaches no other folder.
  io::save(file, weights);
  for (std::string name :
       {"1 : i64", "\"\"", "\"/p.safetensors\"", "\"../p.safetensors\"",
        "\"./p.safetensors\"", "\"..\"", "\".\"", "\"p\\00\""})
    expectIn("and not the name of a file in the same folder",
             errorAfter("tessera.weights = \"p.safetensors\"",
                        "tessera.weights = " + name));
}

TEST_F(LoadTest, callsThatDoNotFit) {
  export_program(
      path(), ExportOptions{.arguments = {"image", "scale"}},
      [](Tensor x, Tensor s) { return std::pair(x * s, x + s); }, zeros({2, 3}),
      1.f);
  Program program = load_program(path());
  unsigned line = __LINE__ + 1;
  std::string text = errorOf<ShapeError>([&] { program(zeros({3, 2}), 1.f); });
  expectIn("LoadTest.cpp:" + std::to_string(line) +
               ": [program] the argument image is of another type: f32[3,2] is "
               "given for f32[2,3]",
           text);
  expectIn("f64[2,3] is given for f32[2,3]",
           errorOf<TypeError>([&] { program(zeros({2, 3}, f64), 1.f); }));
  text = errorOf<ValueError>([&] { program(zeros({2, 3})); });
  expectIn("takes 2 arguments and is given 1: image f32[2,3], scale f32[]",
           text);
  EXPECT_THROW(program(), ValueError);
  EXPECT_THROW(program(Tensor(), 1.f), ValueError);
  expectIn("the number 2 cannot be",
           errorOf<TypeError>([&] { program(2.f, 1.f); }));
  expectIn("2 results, and is used as if it had one",
           errorOf<ValueError>([&] { Tensor y = program(zeros({2, 3}), 1); }));
  Tensor x = zeros({2, 3});
  x.requires_grad(true);
  expectIn("requires a gradient",
           errorOf<TraceError>([&] { program(x, 1.f); }));
  expectIn("inside a transform", errorOf<TraceError>([&] {
             jit([&](Tensor x) { return program(x, x)[0]; })(zeros({2, 3}));
           }));
}

} // namespace tessera
