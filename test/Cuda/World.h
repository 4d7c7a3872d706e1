// The state of the test driver: devices, memory, streams and what they know of
// each other.
#pragma once

#include "test/Cuda/TestDriver.h"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <variant>

namespace tessera::test {

using namespace runtime::cuda;

// For each stream, how many of its operations are known to be done.
using Clock = std::map<CUstream_st *, size_t>;

// One operation of a stream and the memory it uses.
struct Access {
  enum Kind { Read, Write, Use } kind; // Use: a kernel's pointer
  uintptr_t begin, end;
};
struct Operation {
  std::string name;
  std::vector<Access> accesses;
  std::function<Result()> run;
};

} // namespace tessera::test

// What the handles of the driver point to.
struct CUctx_st {
  int device = 0;
  int references = 0;
  tessera::runtime::cuda::Result sticky = {}; // it failed: so does every call
};
struct CUfunc_st {
  std::string name;
  CUmod_st *module = nullptr;
  std::vector<size_t> parameters; // bytes of each
  int dynamicShared = 48 << 10;   // that a launch may ask for
};
struct CUmod_st {
  CUctx_st *context = nullptr;
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
  int sharedBytes = 0;
};

struct CUstream_st {
  CUctx_st *context = nullptr;
  std::deque<tessera::test::Operation> queue;
  size_t enqueued = 0, done = 0;
  tessera::test::Clock clock; // what must be done before its next operation
};
struct CUevent_st {
  CUctx_st *context = nullptr;
  bool timing = false;
  CUstream_st *stream = nullptr; // null: never recorded
  size_t position = 0;
  tessera::test::Clock clock;
};
struct CUgraphNode_st {
  std::vector<CUgraphNode_st *> dependencies;
  CUctx_st *context = nullptr;
  std::variant<std::monostate, tessera::test::TestLaunch,
               tessera::runtime::cuda::CopyParams,
               tessera::runtime::cuda::FillParams>
      work;
  CUfunc_st *function = nullptr;
};
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};
struct CUgraphExec_st {
  std::map<CUgraphNode_st *, CUgraphNode_st> nodes; // by those of the graph
  std::vector<CUgraphNode_st *> order;
};

namespace tessera::test {

// Memory of a device, or pinned memory of the host.
struct Block {
  size_t bytes = 0;
  CUctx_st *context = nullptr;
  bool isPinned = false, isFree = false;
  struct Past {
    Access access;
    CUstream_st *stream;
    size_t position;
  };
  std::vector<Past> past; // accesses that the host does not know to be done
  std::unique_ptr<unsigned char[]> storage;
};

struct World {
  // The lock of every call.
  std::recursive_mutex mutex;
  std::vector<TestDevice> devices;
  int version = 13000;
  bool isInitialised = false;
  std::vector<std::unique_ptr<CUctx_st>> contexts; // by device
  std::vector<size_t> allocated;                   // bytes, by device
  std::map<uintptr_t, Block> blocks;
  std::set<CUstream_st *> streams;
  std::vector<CUstream_st *> endedStreams; // clocks and events name them
  std::set<CUevent_st *> events;
  std::set<CUmod_st *> modules;
  std::set<CUgraph_st *> graphs;
  std::set<CUgraphExec_st *> execs;
  std::vector<std::string> violations;
  std::map<std::string, size_t> calls;
  struct Failure {
    Result result;
    int times, skip;
  };
  std::map<std::string, Failure> failures;
  std::function<Result(const TestLaunch &)> hook;
  // Compiled for the emulator, by name; they outlive resetDriver().
  std::map<std::string, tessera_kernel_fn> kernels;
  Clock host; // what the host knows to be done

  static World &instance();

  World() { setDevices({{}}); }
  void setDevices(std::vector<TestDevice> devices);

  void fault(const std::string &text);

  // The block that the range lies in, alive; else null, after a fault.
  Block *find(uintptr_t begin, size_t bytes, const std::string &who);

  // Gives an operation to a stream: checks its accesses against those of other
  // streams that it may overlap.
  void enqueue(CUstream_st *stream, Operation operation);
  // Runs a stream's operations up to a position; the first failure is the
  // context's from then on.
  void runUntil(CUstream_st *stream, size_t position);
  // What the host learns when a stream is done up to a position.
  void hostKnows(CUstream_st *stream, size_t position, const Clock &clock);
};

// Every call of the driver: takes the lock, counts, and finds out whether to
// fail.
class Call {
public:
  // `needsContext`: a context must be current, and a failed one makes the call
  // fail.
  Call(const char *name, bool needsContext);

  bool isRefused() const { return refusal != Result::Success; }
  Result result() const { return refusal; }
  CUctx_st *context() const { return current; }

  // Reports misuse; the call is to return what this returns.
  Result misuse(const std::string &text);
  // Whether the handle is one of `all`, and of the current context.
  template <typename T> bool owns(const std::set<T *> &all, T *handle) {
    if (!all.count(handle)) {
      misuse("a handle that is not alive");
      return false;
    }
    if constexpr (requires { handle->context; })
      if (handle->context != current) {
        misuse("a handle of another context");
        return false;
      }
    return true;
  }

private:
  World &world = World::instance();
  std::lock_guard<std::recursive_mutex> lock{world.mutex};
  const std::string name;
  CUctx_st *current = nullptr;
  Result refusal = Result::Success;
};

// The contexts that are current on this thread, the last one on top.
std::vector<CUctx_st *> &contextStack();

// Parts of graphs and streams that share their form.
Operation kernelOperation(World &world, CUfunc_st *function,
                          const TestLaunch &launch);
Operation copyOperation(World &world, const std::string &name, uintptr_t to,
                        uintptr_t from, size_t bytes);
Operation fillOperation(World &world, uintptr_t to, unsigned char value,
                        size_t bytes);

// A launch with the values of its parameters, or nothing after a fault.
bool readLaunch(Call &call, CUfunc_st *function, const unsigned *grid,
                const unsigned *block, unsigned sharedBytes, void **parameters,
                TestLaunch &launch);

} // namespace tessera::test

// Begins each function of the driver.
#define ENTER(name, needsContext)                                              \
  ::tessera::test::Call call(#name, needsContext);                             \
  ::tessera::test::World &world = ::tessera::test::World::instance();          \
  (void)world;                                                                 \
  if (call.isRefused())                                                        \
  return call.result()
