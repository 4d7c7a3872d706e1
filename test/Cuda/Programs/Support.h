// Programs on GPUs that there are not: three, of which tests may break the
// last.
#pragma once

#include "test/Cuda/TestDriver.h"
#include "test/Unit/Frontend/Support.h"

namespace tessera::test {

/// Opens the GPUs with these sizes once; the library keeps them.
inline void openGpus() {
  static const bool done = [] {
    resetDriver({{.name = "Test GPU 0"},
                 {.name = "Test GPU 1", .memoryBytes = size_t(8) << 20},
                 {.name = "Test GPU 2"}});
    return true;
  }();
  (void)done;
}

using Floats = std::vector<float>;
inline const Device kCuda("cuda:0");

/// Each test ends with the CPU as the default, and nothing done wrong.
struct CudaProgramTest : testing::Test {
  void SetUp() override { openGpus(); }
  void TearDown() override {
    set_default_device(Device());
    EXPECT_TRUE(allFailed());
    for (const std::string &text : violations())
      ADD_FAILURE() << text;
    forgetViolations();
  }
};

} // namespace tessera::test
