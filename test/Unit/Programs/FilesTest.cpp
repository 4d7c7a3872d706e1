// Saved tensors come back with the same bits; wrong files are errors.
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <tessera/tessera.h>

using namespace tessera;

static std::string path(const char *name) { return testing::TempDir() + name; }

TEST(FilesTest, safetensorsComeBack) {
  nn::TensorMap map{{"x", random::normal(random::key(1), {3, 5})},
                    {"n", tensor({1, 2, 3}, i64)},
                    {"e", zeros({0, 4})}};
  io::save(path("t.safetensors"), map);
  auto loaded = io::load(path("t.safetensors"));
  ASSERT_EQ(loaded.size(), 3u);
  EXPECT_EQ(loaded.at("x").to_vector<float>(), map.at("x").to_vector<float>());
  EXPECT_EQ(loaded.at("n").to_vector<int64_t>(),
            (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(loaded.at("e").shape(), (Shape{0, 4}));
}

TEST(FilesTest, npyComesBack) {
  Tensor x = random::normal(random::key(2), {2, 3, 4});
  io::save_npy(path("t.npy"), x);
  Tensor y = io::load_npy(path("t.npy"));
  EXPECT_EQ(y.shape(), x.shape());
  EXPECT_EQ(y.to_vector<float>(), x.to_vector<float>());
}

TEST(FilesTest, wrongFilesAreErrors) {
  EXPECT_THROW(io::load(path("missing.safetensors")), IoError);
  std::ofstream(path("bad.safetensors")) << "short";
  EXPECT_THROW(io::load(path("bad.safetensors")), IoError);
  EXPECT_THROW(io::load_npy(path("bad.safetensors")), IoError);
  EXPECT_THROW(io::save("/nonexistent-folder/x.safetensors", nn::TensorMap{}),
               IoError);
}
