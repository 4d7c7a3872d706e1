// Tensors on a GPU: where their bytes come from and go to.
#include "test/Cuda/Programs/Support.h"

#include "tessera/Export.h"
#include "tessera/Memory.h"
#include "tessera/Save.h"

#include <filesystem>
#include <sstream>

namespace tessera::test {

namespace {

TEST_F(CudaProgramTest, bytesGoThereAndBack) {
  std::vector<float> values(3 << 20); // several chunks of staging
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i);
  Tensor here = Tensor::from(values, {3, 1 << 20}), there = here.to(kCuda);
  EXPECT_EQ(there.device(), kCuda);
  EXPECT_EQ(there.to_vector<float>(), values);
  EXPECT_EQ(there.to(Device()).to_vector<float>(), values);
  EXPECT_EQ(there[1].to_vector<float>()[5], float((1 << 20) + 5));
  Tensor third = there[2].to(Device("cuda:2"));
  EXPECT_EQ(third.device(), Device("cuda:2"));
  EXPECT_EQ(third.to_vector<float>().back(), values.back());
}

TEST_F(CudaProgramTest, everyWayToLook) {
  set_default_device(kCuda);
  Tensor x = tensor({{1.f, 2.f}, {3.f, 4.f}}) * 2.f;
  EXPECT_EQ(x.device(), kCuda);
  EXPECT_EQ(sum(x).item<float>(), 20.f);
  std::span<const float> span = x.span<float>();
  EXPECT_EQ(Floats(span.begin(), span.end()), Floats({2, 4, 6, 8}));
  EXPECT_EQ(x.span<float>().data(), span.data());
  std::ostringstream text;
  text << x;
  EXPECT_EQ(text.str(), "[[2, 4],\n [6, 8]]");
  EXPECT_EQ(x.index(x > 3.f).to_vector<float>(), Floats({4, 6, 8}));
  EXPECT_EQ(x.index(x > 3.f).device(), kCuda);
  EXPECT_EQ(Tensor(2.5f).item<float>(), 2.5f);
}

TEST_F(CudaProgramTest, viewsNeedNotBeAligned) {
  set_default_device(kCuda);
  Tensor x = Tensor::from(Floats({0, 1, 2, 3, 4, 5}), {6});
  Tensor part = x.index(slice(1, 5));
  EXPECT_EQ((part + 1.f).to_vector<float>(), Floats({2, 3, 4, 5}));
}

TEST_F(CudaProgramTest, filesOfTensorsAndPrograms) {
  std::string folder = testing::TempDir() + "tessera-cuda";
  std::filesystem::create_directories(folder);
  set_default_device(kCuda);
  Tensor x = Tensor::from(Floats({1, 2, 3}), {3});
  io::save_npy(folder + "/x.npy", x);
  EXPECT_EQ(io::load_npy(folder + "/x.npy").to_vector<float>(),
            Floats({1, 2, 3}));
  Variable scale(Tensor::from(Floats({2, 3, 4}), {3}));
  auto f = [&](Tensor x) { return x * scale + 1.f; };
  export_program(folder + "/f.mlir", f, x);
  Program loaded = load_program(folder + "/f.mlir");
  Tensor y = loaded(x);
  EXPECT_EQ(y.device(), kCuda);
  EXPECT_EQ(y.to_vector<float>(), Floats({3, 7, 13}));
}

TEST_F(CudaProgramTest, memoryIsCounted) {
  MemoryStats before = memory_stats(kCuda);
  {
    Tensor x = zeros({1 << 18}).to(kCuda);
    EXPECT_GE(memory_stats(kCuda).in_use, before.in_use + (1 << 20));
  }
  EXPECT_EQ(memory_stats(kCuda).in_use, before.in_use);
}

} // namespace

} // namespace tessera::test
