// The context switch by itself.
#include "runtime/sim/Context.h"
#include "gtest/gtest.h"
#include <cstdint>

using namespace tessera::runtime::sim;

namespace {

struct Pair {
  Context here, there;
  int count = 0;
  uintptr_t alignment = 1;
};

void bounce(void *argument) {
  auto &pair = *static_cast<Pair *>(argument);
  alignas(16) char local[16];
  pair.alignment = reinterpret_cast<uintptr_t>(local) % 16;
  while (true) {
    ++pair.count;
    pair.there.switchTo(pair.here);
  }
}

TEST(Context, SwitchesThereAndBack) {
  Pair pair;
  Stack stack = acquireStack();
  pair.there.prepare(stack, &bounce, &pair);
  volatile double kept = 1.5; // lives across the switches
  for (int i = 1; i <= 1000; ++i) {
    pair.here.switchTo(pair.there);
    ASSERT_EQ(pair.count, i);
  }
  EXPECT_EQ(kept, 1.5);
  EXPECT_EQ(pair.alignment, 0u);
  releaseStack(stack);
}

TEST(Context, StacksAreReused) {
  Stack first = acquireStack();
  releaseStack(first);
  Stack second = acquireStack();
  EXPECT_EQ(first.base, second.base);
  second.base[0] = second.base[second.bytes - 1] = 1;
  releaseStack(second);
}

} // namespace
