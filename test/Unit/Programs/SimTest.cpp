// Programs on an emulated GPU: the same bits as on the CPU.
#include "test/Unit/Frontend/Training.h"

namespace tessera {

namespace {

const Device kSim("sim:sm_90");

class SimTest : public testing::Test {
protected:
  ~SimTest() override {
    set_default_device(Device());
    set_matmul_precision(MatmulPrecision::exact);
  }
};

TEST_F(SimTest, TrainingGivesTheBitsOfTheCpu) {
  std::vector<float> expected = train(Device(), true);
  EXPECT_EQ(train(kSim, true), expected);
  EXPECT_EQ(train(kSim, false), expected);
}

TEST_F(SimTest, OneSymbolicProgramForAllBatches) {
  auto f = [](Tensor x) { return softmax(x * 2.f, -1) + mean(x); };
  auto program = jit(f, {.symbolic = true});
  for (int64_t batch : {3, 1, 40}) {
    Tensor x = random::normal(random::key(7), {batch, 21});
    Tensor expected = f(x);
    Tensor actual = program(x.to(kSim));
    EXPECT_EQ(actual.device(), kSim);
    EXPECT_EQ(actual.to_vector<float>(), expected.to_vector<float>());
  }
}

/// Calls with each precision in turn, of ops and of one program.
TEST_F(SimTest, ProductsInTf32WhereTheyAreAskedFor) {
  constexpr int64_t kInner = 100;
  const Device sm80("sim:sm_80"), sm75("sim:sm_75");
  Tensor a = random::normal(random::key(1), {20, kInner}),
         b = random::normal(random::key(2), {kInner, 30});
  auto product = jit([](Tensor x, Tensor w) { return matmul(x, w); });
  auto on = [&](const Device &device, bool compiled) {
    Tensor x = a.to(device), w = b.to(device);
    return (compiled ? product(x, w) : matmul(x, w)).to_vector<float>();
  };
  const std::vector<float> exact = on(Device(), false);
  const std::vector<float> magnitudes =
      matmul(abs(a), abs(b)).to_vector<float>();
  for (bool compiled : {false, true}) {
    EXPECT_EQ(on(sm80, compiled), exact);
    set_matmul_precision(MatmulPrecision::tf32);
    EXPECT_EQ(matmul_precision(), MatmulPrecision::tf32);
    std::vector<float> rounded = on(sm80, compiled);
    EXPECT_EQ(on(Device(), compiled), exact);
    EXPECT_EQ(on(sm75, compiled), exact);
    set_matmul_precision(MatmulPrecision::exact);
    EXPECT_EQ(on(sm80, compiled), exact);
    EXPECT_NE(rounded, exact);
    // Two operands, each rounded to 11 bits, and both sums in f32.
    for (size_t i = 0; i < exact.size(); ++i)
      ASSERT_NEAR(rounded[i], exact[i],
                  (0x1.01p-10 + 2 * kInner * 0x1p-23) * magnitudes[i]);
  }
}

TEST_F(SimTest, DevicesDoNotMix) {
  Tensor here = ones({3}), there = ones({3}).to(kSim);
  EXPECT_THROW(here + there, DeviceError);
  auto add = jit([&](Tensor x) { return x + 1.f; });
  EXPECT_EQ(add(here).device(), Device());
  EXPECT_EQ(add(there).device(), kSim);
  EXPECT_EQ((there + 1.f).to(Device()).to_vector<float>(),
            add(here).to_vector<float>());
  Variable weight(ones({3}));
  auto times = jit([&](Tensor x) { return x * weight; });
  EXPECT_THROW(times(there), DeviceError);
}

TEST_F(SimTest, UnknownArchitectures) {
  std::string text =
      errorOf<DeviceError>([] { set_default_device(Device("sim:sm_12")); });
  EXPECT_NE(text.find("sm_12"), std::string::npos) << text;
  EXPECT_NE(text.find("sm_90"), std::string::npos) << text;
}

/// A borrowed buffer may lie anywhere; memory of a device is aligned.
TEST_F(SimTest, UnalignedBytes) {
  std::vector<float> values(65, 1.5f);
  Tensor x = Tensor::borrow(values.data() + 1, {64}).to(kSim);
  EXPECT_EQ((x + 1.f).to_vector<float>(), std::vector<float>(64, 2.5f));
}

} // namespace

} // namespace tessera
