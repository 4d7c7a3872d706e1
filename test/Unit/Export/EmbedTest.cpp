// Programs that hold their weights.
#include "test/Unit/Export/Support.h"

namespace tessera {
namespace {

class EmbedTest : public ExportTest {
protected:
  /// A program with weights of several types, and state.
  Tensor exported(Tensor x) {
    Tensor w = numbers({3}), mask = tensor({true, false, true}),
           narrow = numbers({3}).astype(bf16), none = zeros({0, 3});
    Variable v = numbers({3});
    auto f = [&](Tensor y) {
      v = v * 0.5f + y;
      return where(mask, y * w, v) + narrow.astype(f32) + sum(none, 0);
    };
    export_program(path(), {.embed_weights = true}, f, zeros({3}));
    return jit(f)(x);
  }
  std::string errorOfLoad() {
    return errorOf<IoError>([&] { load_program(path()); });
  }
};

} // namespace

TEST_F(EmbedTest, oneFileHoldsAll) {
  Tensor x = numbers({3}), expected = exported(x);
  EXPECT_FALSE(std::filesystem::exists(folder + "p.safetensors"));
  expectIn("dialect_resources", read(path()));
  Program program = load_program(path());
  EXPECT_TRUE(sameBits(Tensor(program(x)), expected));
  EXPECT_EQ(program.state().size(), 5u);
  EXPECT_FALSE(sameBits(Tensor(program(x)), expected)); // the state moved on
}

TEST_F(EmbedTest, manyBytesAreOneString) {
  Tensor w = numbers({600, 1000});
  export_program(
      path(), {.embed_weights = true}, [&](Tensor x) { return matmul(x, w); },
      zeros({2, 600}));
  Tensor x = numbers({2, 600});
  EXPECT_TRUE(sameBits(Tensor(load_program(path())(x)),
                       jit([&](Tensor v) { return matmul(v, w); })(x)));
}

TEST_F(EmbedTest, damagedOnes) {
  exported(numbers({3}));
  std::string text = read(path());
  size_t data = text.find("captured0: \"0x");
  ASSERT_NE(data, std::string::npos) << text;
  auto with = [&](std::string changed) {
    write(path(), changed);
    return errorOfLoad();
  };
  std::string shorter = text;
  expectIn("bytes for it", with(shorter.erase(data + 22, 2)));
  std::string odd = text;
  expectIn("p.mlir", with(odd.erase(data + 22, 1)));
  std::string letters = text;
  expectIn("p.mlir", with(letters.replace(data + 22, 2, "zz")));
  std::string unnamed = text;
  expectIn("captured0", with(unnamed.replace(data, 9, "captureD0")));
  expectIn("p.mlir", with(text.substr(0, text.find("{-#"))));
  for (size_t end = text.find("{-#") + 3; end < text.size() - 4; end += 7)
    expectIn("the file ends inside its resources", with(text.substr(0, end)));
}

} // namespace tessera
