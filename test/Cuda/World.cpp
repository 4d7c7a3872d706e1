// What the test driver checks, and when operations run: as late as they may.
#include "test/Cuda/World.h"

#include "runtime/sim/Session.h"

#include <algorithm>
#include <cstring>

namespace tessera::test {

namespace {

constexpr const char *kFunctionNames[] = {
#define X(member, name, parameters) #name,
    TESSERA_CUDA_FUNCTIONS(X)
#undef X
};

bool overlap(const Access &a, const Access &b) {
  return a.begin < b.end && b.begin < a.end;
}

// Whether the order of the two matters. Two kernels may read the same memory,
// and what they do with it is not known.
bool conflict(const Access &a, const Access &b) {
  if (a.kind == Access::Use || b.kind == Access::Use)
    return a.kind == Access::Write || b.kind == Access::Write;
  return a.kind == Access::Write || b.kind == Access::Write;
}

size_t known(const Clock &clock, CUstream_st *stream) {
  auto found = clock.find(stream);
  return found == clock.end() ? 0 : found->second;
}

void join(Clock &into, const Clock &from) {
  for (auto [stream, position] : from)
    into[stream] = std::max(into[stream], position);
}

// Runs a kernel's twin; one that nobody gave does nothing.
Result runOnEmulator(World &world, const TestLaunch &launch) {
  auto found = world.kernels.find(launch.kernel);
  if (found == world.kernels.end())
    return Result::Success;
  std::vector<void *> buffers;
  for (size_t i = 0; i < launch.arguments.size(); ++i)
    buffers.push_back(launch.argument<void *>(i));
  try {
    runtime::sim::Session session;
    const tessera_host *host = session.host();
    const int64_t blocks = launch.grid[0];
    if (host->parallel_for)
      host->parallel_for(host, found->second, buffers.data(), blocks);
    else
      found->second(buffers.data(), 0, blocks);
    session.finish();
    return Result::Success;
  } catch (const std::exception &error) {
    world.fault(launch.kernel + ": " + error.what());
    return Result::IllegalAddress;
  }
}

template <typename Handles> void deleteAll(Handles &handles) {
  for (auto *handle : handles)
    delete handle;
  handles.clear();
}

std::string hex(uintptr_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%zx", size_t(value));
  return text;
}

} // namespace

World &World::instance() {
  static World *world = new World;
  return *world;
}

void World::fault(const std::string &text) { violations.push_back(text); }

Block *World::find(uintptr_t begin, size_t bytes, const std::string &who) {
  auto next = blocks.upper_bound(begin);
  if (next != blocks.begin()) {
    auto &[address, block] = *std::prev(next);
    if (begin < address + block.bytes) {
      if (block.isFree)
        fault(who + ": memory " + hex(begin) + " after it was freed");
      else if (bytes > address + block.bytes - begin)
        fault(who + ": " + std::to_string(bytes) + " bytes at " + hex(begin) +
              " end outside their block");
      else
        return &block;
      return nullptr;
    }
  }
  fault(who + ": " + hex(begin) + " is no memory of the driver");
  return nullptr;
}

void World::enqueue(CUstream_st *stream, Operation operation) {
  join(stream->clock, host);
  size_t position = ++stream->enqueued;
  for (const Access &access : operation.accesses) {
    Block *block =
        find(access.begin, access.end - access.begin, operation.name);
    if (!block)
      continue;
    for (const Block::Past &past : block->past)
      if (past.stream != stream && overlap(past.access, access) &&
          conflict(past.access, access) &&
          known(stream->clock, past.stream) < past.position)
        fault(operation.name + ": uses memory " + hex(access.begin) +
              " that another stream may be using");
    block->past.push_back({access, stream, position});
  }
  stream->clock[stream] = position;
  stream->queue.push_back(std::move(operation));
}

void World::runUntil(CUstream_st *stream, size_t position) {
  while (stream->done < position && !stream->queue.empty()) {
    Operation operation = std::move(stream->queue.front());
    stream->queue.pop_front();
    ++stream->done;
    if (stream->context->sticky != Result::Success)
      continue; // nothing is done any more
    Result result = operation.run();
    if (result != Result::Success)
      stream->context->sticky = result;
  }
}

void World::hostKnows(CUstream_st *stream, size_t position,
                      const Clock &clock) {
  join(host, clock);
  host[stream] = std::max(host[stream], position);
  for (auto &[address, block] : blocks)
    std::erase_if(block.past, [&](const Block::Past &past) {
      return known(host, past.stream) >= past.position;
    });
}

std::vector<CUctx_st *> &contextStack() {
  thread_local std::vector<CUctx_st *> stack;
  return stack;
}

Call::Call(const char *name, bool needsContext) : name(name) {
  ++world.calls[name];
  auto failure = world.failures.find(name);
  if (failure != world.failures.end() && failure->second.times > 0 &&
      failure->second.skip-- <= 0) {
    --failure->second.times;
    refusal = failure->second.result;
  }
  if (!world.isInitialised && this->name != "cuInit" &&
      this->name.find("cuGetError") != 0) {
    refusal = Result::NotInitialized;
    return;
  }
  if (!contextStack().empty())
    current = contextStack().back();
  if (!needsContext)
    return;
  if (!current)
    refusal = misuse("no context is current");
  else if (refusal == Result::Success)
    refusal = current->sticky;
}

Result Call::misuse(const std::string &text) {
  world.fault(name + ": " + text);
  return refusal = Result::InvalidValue;
}

Operation kernelOperation(World &world, CUfunc_st *function,
                          const TestLaunch &launch) {
  Operation operation{"launch of " + launch.kernel, {}, {}};
  // Numbers that are addresses of the driver's memory are pointers.
  for (const auto &bytes : launch.arguments) {
    uintptr_t value = 0;
    if (bytes.size() != sizeof(value))
      continue;
    std::memcpy(&value, bytes.data(), sizeof(value));
    auto next = world.blocks.upper_bound(value);
    if (next == world.blocks.begin())
      continue;
    auto &[address, block] = *std::prev(next);
    if (value < address + block.bytes)
      operation.accesses.push_back({Access::Use, value, address + block.bytes});
  }
  operation.run = [&world, function, launch] {
    (void)function;
    return world.hook ? world.hook(launch) : runOnEmulator(world, launch);
  };
  return operation;
}

Operation copyOperation(World &world, const std::string &name, uintptr_t to,
                        uintptr_t from, size_t bytes) {
  Operation operation{
      name,
      {{Access::Read, from, from + bytes}, {Access::Write, to, to + bytes}},
      {}};
  operation.run = [to, from, bytes] {
    std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from),
                 bytes);
    return Result::Success;
  };
  return operation;
}

Operation fillOperation(World &world, uintptr_t to, unsigned char value,
                        size_t bytes) {
  Operation operation{"fill", {{Access::Write, to, to + bytes}}, {}};
  operation.run = [to, value, bytes] {
    std::memset(reinterpret_cast<void *>(to), value, bytes);
    return Result::Success;
  };
  return operation;
}

void World::setDevices(std::vector<TestDevice> anew) {
  devices = std::move(anew);
  contexts.clear();
  for (size_t i = 0; i < devices.size(); ++i) {
    contexts.push_back(std::make_unique<CUctx_st>());
    contexts.back()->device = int(i);
  }
  allocated.assign(devices.size(), 0);
}

void resetDriver(std::vector<TestDevice> devices, int version) {
  World &world = World::instance();
  std::lock_guard guard(world.mutex);
  world.setDevices(std::move(devices));
  world.version = version;
  world.blocks.clear();
  deleteAll(world.streams);
  deleteAll(world.endedStreams);
  deleteAll(world.events);
  deleteAll(world.modules);
  deleteAll(world.graphs);
  deleteAll(world.execs);
  world.violations.clear();
  world.calls.clear();
  world.failures.clear();
  world.hook = nullptr;
  world.host.clear();
}

void onLaunch(std::function<Result(const TestLaunch &)> hook) {
  std::lock_guard guard(World::instance().mutex);
  World::instance().hook = std::move(hook);
}

void failCalls(const std::string &function, Result result, int times,
               int skip) {
  World &world = World::instance();
  std::lock_guard guard(world.mutex);
  if (std::ranges::count(kFunctionNames, function) == 0)
    world.fault("there is no function " + function + " that could fail");
  world.failures[function] = {result, times, skip};
}

bool allFailed() {
  World &world = World::instance();
  std::lock_guard guard(world.mutex);
  return std::ranges::all_of(world.failures, [](const auto &entry) {
    return entry.second.times == 0;
  });
}

size_t callsOf(const std::string &function) {
  World &world = World::instance();
  std::lock_guard guard(world.mutex);
  return world.calls[function];
}

std::vector<std::string> driverFunctions() {
  return {std::begin(kFunctionNames), std::end(kFunctionNames)};
}

std::vector<std::string> violations() {
  std::lock_guard guard(World::instance().mutex);
  return World::instance().violations;
}

void forgetViolations() {
  std::lock_guard guard(World::instance().mutex);
  World::instance().violations.clear();
}

std::vector<std::string> alive() {
  World &world = World::instance();
  std::lock_guard guard(world.mutex);
  std::vector<std::string> all;
  for (const auto &[address, block] : world.blocks)
    if (!block.isFree)
      all.push_back((block.isPinned ? "pinned memory " : "memory ") +
                    hex(address) + ", " + std::to_string(block.bytes) +
                    " bytes");
  auto count = [&](const char *what, size_t number) {
    if (number > 0)
      all.push_back(std::to_string(number) + " " + what);
  };
  count("streams", world.streams.size());
  count("events", world.events.size());
  count("modules", world.modules.size());
  count("graphs", world.graphs.size());
  count("executable graphs", world.execs.size());
  for (const auto &context : world.contexts)
    count("references of a context", size_t(context->references));
  return all;
}

} // namespace tessera::test
