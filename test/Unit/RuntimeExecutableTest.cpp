// Calling an executable: buffers, arena, donation, failed checks.
#include "runtime/Executable.h"

#include "runtime/Allocator.h"
#include "runtime/FloatEnv.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>

using namespace tessera::runtime;

namespace {

constexpr int64_t kSize = 1000;

// out = in + 1, by tiles of 10; an alias when both are one pointer.
void addOneTiles(void *const *buffers, int64_t begin, int64_t end) {
  auto *in = static_cast<const float *>(buffers[0]);
  auto *out = static_cast<float *>(buffers[1]);
  for (int64_t i = begin * 10; i < end * 10; ++i)
    out[i] = in[i] + 1;
}

int addOne(const tessera_host *host, void *const *buffers, const int64_t *,
           void *, tessera_status *) {
  if (host && host->parallel_for)
    host->parallel_for(host, addOneTiles, buffers, kSize / 10);
  else
    addOneTiles(buffers, 0, kSize / 10);
  return 0;
}

ExecutableInfo addOneInfo(int aliasOf = -1) {
  ExecutableInfo info;
  info.name = "add_one";
  info.entry = addOne;
  info.inputs = {BufferInfo::make(DType::f32, {kSize})};
  info.outputs = {BufferInfo::make(DType::f32, {kSize}, aliasOf)};
  return info;
}

Storage filled(float value) {
  Storage storage = Storage::allocate(kSize * 4);
  std::fill_n(static_cast<float *>(storage.data()), kSize, value);
  return storage;
}

bool holds(const Storage &storage, float value) {
  auto *data = static_cast<const float *>(storage.data());
  return std::all_of(data, data + kSize, [&](float x) { return x == value; });
}

} // namespace

TEST(Executable, allocatesItsOutputs) {
  Executable executable(addOneInfo());
  for (int threads : {0, 1, 2, 3}) {
    Storage in[] = {filled(2)}, out[1];
    EXPECT_TRUE(executable.run(in, out, threads).ok());
    EXPECT_TRUE(holds(out[0], 3) && holds(in[0], 2));
  }
}

TEST(Executable, writesToAGivenOutput) {
  Executable executable(addOneInfo());
  Storage in[] = {filled(2)}, out[] = {filled(0)};
  Storage given = out[0];
  executable.run(in, out);
  EXPECT_EQ(out[0], given);
  EXPECT_TRUE(holds(given, 3));
}

TEST(Executable, donatesALastHandle) {
  Executable executable(addOneInfo(0));
  Storage in[] = {filled(2)}, out[1];
  void *data = in[0].data();
  executable.run(in, out, 2);
  EXPECT_FALSE(in[0]);
  EXPECT_EQ(out[0].data(), data);
  EXPECT_TRUE(holds(out[0], 3));
}

TEST(Executable, copiesWhatOthersHold) {
  Executable executable(addOneInfo(0));
  Storage in[] = {filled(2)}, out[1];
  Storage kept = in[0];
  executable.run(in, out);
  EXPECT_TRUE(holds(kept, 2) && holds(out[0], 3));

  float users[kSize] = {};
  in[0] = Storage::borrow(users, sizeof users);
  out[0] = Storage();
  executable.run(in, out);
  EXPECT_EQ(users[0], 0);
  EXPECT_TRUE(holds(out[0], 1));
}

TEST(Executable, failedChecksGiveAStatus) {
  ExecutableInfo info;
  info.name = "check";
  info.entry = [](const tessera_host *, void *const *, const int64_t *dims,
                  void *, tessera_status *status) {
    status->op = 7;
    status->values[0] = dims[0];
    return 3;
  };
  int64_t dims[] = {42};
  Status status = Executable(std::move(info)).run({}, {}, 1, dims);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code, 3);
  EXPECT_EQ(status.op, 7);
  EXPECT_EQ(status.values[0], 42);
}

TEST(Executable, arenaIsAlignedAndGivenBack) {
  ExecutableInfo info;
  info.name = "arena";
  info.arenaBytes = 10000;
  info.entry = [](const tessera_host *, void *const *, const int64_t *,
                  void *arena, tessera_status *) {
    std::fill_n(static_cast<char *>(arena), 10000, char(1));
    return reinterpret_cast<uintptr_t>(arena) % 64 == 0 ? 0 : 1;
  };
  size_t inUse = Allocator::host().stats().bytesInUse;
  EXPECT_TRUE(Executable(std::move(info)).run({}, {}).ok());
  EXPECT_EQ(Allocator::host().stats().bytesInUse, inUse);
}

TEST(Executable, wrongSizesThrow) {
  Executable executable(addOneInfo());
  Storage in[] = {Storage::allocate(8)}, out[1];
  try {
    executable.run(in, out);
    FAIL();
  } catch (const std::invalid_argument &error) {
    EXPECT_STREQ(error.what(),
                 "[add_one] input 0 has 8 bytes, expected 4000 of f32[1000]");
  }
  EXPECT_THROW(executable.run({}, out), std::invalid_argument);
  Storage good[] = {filled(0)}, small[] = {Storage::allocate(8)};
  EXPECT_THROW(executable.run(good, small), std::invalid_argument);
  EXPECT_THROW(Executable(addOneInfo(1)), std::invalid_argument);
  EXPECT_THROW(BufferInfo::make(DType::f32, {int64_t(1) << 62}),
               std::length_error);
}

TEST(Executable, nothingIsDonatedWhenMemoryEnds) {
  ExecutableInfo info = addOneInfo(0);
  info.arenaBytes = size_t(1) << 60;
  Executable executable(std::move(info));
  Storage in[] = {filled(2)}, out[1];
  EXPECT_THROW(executable.run(in, out), OutOfMemoryError);
  EXPECT_TRUE(in[0] && holds(in[0], 2));
}

TEST(Executable, manyBuffers) {
  ExecutableInfo info;
  info.name = "many";
  info.inputs.assign(40, BufferInfo::make(DType::i32, {}));
  info.outputs = {BufferInfo::make(DType::i32, {})};
  info.entry = [](const tessera_host *, void *const *buffers, const int64_t *,
                  void *, tessera_status *) {
    int sum = 0;
    for (int i = 0; i < 40; ++i)
      sum += *static_cast<int *>(buffers[i]);
    *static_cast<int *>(buffers[40]) = sum;
    return 0;
  };
  std::vector<Storage> in;
  int values[40];
  for (int i = 0; i < 40; ++i)
    in.push_back(Storage::borrow(&(values[i] = i), 4));
  Storage out[1];
  Executable(std::move(info)).run(in, out);
  EXPECT_EQ(*static_cast<int *>(out[0].data()), 39 * 40 / 2);
}

#ifdef TESSERA_HAS_MXCSR
TEST(Executable, runsInTheDefaultFloatEnvironment) {
  ExecutableInfo info;
  info.name = "mxcsr";
  info.entry = [](const tessera_host *, void *const *, const int64_t *, void *,
                  tessera_status *) { return int(_mm_getcsr()); };
  unsigned saved = _mm_getcsr();
  _mm_setcsr(0xFFC0);
  Status status = Executable(std::move(info)).run({}, {});
  unsigned after = _mm_getcsr();
  _mm_setcsr(saved);
  EXPECT_EQ(unsigned(status.code), kDefaultMxcsr);
  EXPECT_EQ(after, 0xFFC0u);
}
#endif

TEST(Executable, threadsShareOne) {
  const Executable executable(addOneInfo());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> users;
  for (int u = 0; u < 4; ++u)
    users.emplace_back([&, u] {
      for (int i = 0; i < 200; ++i) {
        Storage in[] = {filled(float(u))}, out[1];
        wrong += !executable.run(in, out, 1 + i % 3).ok() ||
                 !holds(out[0], float(u + 1));
      }
    });
  for (std::thread &user : users)
    user.join();
  EXPECT_EQ(wrong, 0);
}
