// The launches and copies of a plan as one CUDA graph.
#pragma once

#include "runtime/cuda/Module.h"

#include <span>
#include <variant>

namespace tessera::runtime::cuda {

// A copy within the GPU.
struct Copy {
  DevicePointer to = 0, from = 0;
  size_t bytes = 0;
  friend bool operator==(const Copy &, const Copy &) = default;
};

// `bytes` bytes of one value.
struct Fill {
  DevicePointer to = 0;
  unsigned char value = 0;
  size_t bytes = 0;
  friend bool operator==(const Fill &, const Fill &) = default;
};

using Command = std::variant<Launch, Copy, Fill>;

// Gives the commands to the stream one by one.
void enqueue(Stream &stream, std::span<const Command> commands);

// Commands that are given to the GPU at once, which costs a fraction of giving
// them one by one. The first run records them; a later one passes on what has
// changed, mostly pointers. Commands of no work (empty grids, zero bytes) must
// not be among them. Calls of one graph take turns.
class Graph {
public:
  explicit Graph(Gpu &gpu) : gpu(gpu) {}
  ~Graph() { reset(); }
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  // Runs the commands, in order, on the stream. If their kinds or kernels are
  // others than those recorded, they are recorded anew.
  void run(Stream &stream, std::span<const Command> commands);

  // How often commands were recorded, and how many of them were changed since.
  size_t recordings() const { return theRecordings; }
  size_t updates() const { return theUpdates; }

private:
  bool matches(std::span<const Command> commands) const;
  void record(std::span<const Command> commands);
  void update(Stream &stream, std::span<const Command> commands);
  void reset() noexcept;

  Gpu &gpu;
  std::mutex mutex;
  GraphHandle graph = nullptr;
  GraphExec exec = nullptr;
  std::vector<GraphNode> nodes;
  std::vector<Command> recorded;
  std::vector<FunctionHandle> functions; // of the launches; null for others
  size_t theRecordings = 0, theUpdates = 0;
};

} // namespace tessera::runtime::cuda
