// Graphs of the driver: a chain of nodes, one for each command.
#include "runtime/cuda/Graph.h"

namespace tessera::runtime::cuda {

namespace {

// A launch in the form of a graph's node; refers to `launch`.
struct KernelNode {
  explicit KernelNode(const Launch &launch) {
    for (const uint64_t &cell : launch.arguments)
      parameters.push_back(const_cast<uint64_t *>(&cell));
    const auto &g = launch.grid, &b = launch.block;
    params = {launch.kernel->get(), {g[0], g[1], g[2]}, {b[0], b[1], b[2]},
              launch.sharedBytes,   parameters.data(),  nullptr};
  }
  KernelNode(const KernelNode &) = delete;

  std::vector<void *> parameters;
  KernelNodeParams params;
};

CopyParams paramsOf(const Copy &copy) {
  CopyParams params = {};
  params.source.memoryType = params.destination.memoryType = kMemoryDevice;
  params.source.device = copy.from;
  params.destination.device = copy.to;
  params.source.pitch = params.destination.pitch = copy.bytes;
  params.source.height = params.destination.height = 1;
  params.width = copy.bytes;
  params.height = params.depth = 1;
  return params;
}

FillParams paramsOf(const Fill &fill) {
  return {fill.to, fill.bytes, fill.value, 1, fill.bytes, 1};
}

FunctionHandle functionOf(const Command &command) {
  auto *launch = std::get_if<Launch>(&command);
  return launch ? launch->kernel->get() : nullptr;
}

template <typename... Fs> struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs> Overloaded(Fs...) -> Overloaded<Fs...>;

} // namespace

void enqueue(Stream &stream, std::span<const Command> commands) {
  for (const Command &command : commands)
    std::visit(
        Overloaded{[&](const Launch &c) { launch(stream, c); },
                   [&](const Copy &c) { stream.copy(c.to, c.from, c.bytes); },
                   [&](const Fill &c) { stream.fill(c.to, c.value, c.bytes); }},
        command);
}

void Graph::reset() noexcept {
  if (QuietContextScope current(gpu); current) {
    if (exec) // which goes on if it is running
      gpu.driver().graphExecDestroy(exec);
    if (graph)
      gpu.driver().graphDestroy(graph);
  }
  exec = nullptr;
  graph = nullptr;
  nodes.clear();
  recorded.clear();
  functions.clear();
}

bool Graph::matches(std::span<const Command> commands) const {
  if (!exec || commands.size() != recorded.size())
    return false;
  for (size_t i = 0; i < commands.size(); ++i) {
    if (commands[i].index() != recorded[i].index() ||
        functionOf(commands[i]) != functions[i])
      return false;
  }
  return true;
}

void Graph::record(std::span<const Command> commands) {
  const Driver &driver = gpu.driver();
  const std::string what = "recording a graph";
  reset();
  try {
    gpu.check(driver.graphCreate(&graph, 0), what);
    for (const Command &command : commands) {
      GraphNode node = nullptr;
      const GraphNode *before = nodes.empty() ? nullptr : &nodes.back();
      size_t count = nodes.empty() ? 0 : 1;
      gpu.check(std::visit(Overloaded{[&](const Launch &c) {
                                        KernelNode kernel(c);
                                        return driver.graphAddKernel(
                                            &node, graph, before, count,
                                            &kernel.params);
                                      },
                                      [&](const Copy &c) {
                                        CopyParams params = paramsOf(c);
                                        return driver.graphAddCopy(
                                            &node, graph, before, count,
                                            &params, gpu.context());
                                      },
                                      [&](const Fill &c) {
                                        FillParams params = paramsOf(c);
                                        return driver.graphAddFill(
                                            &node, graph, before, count,
                                            &params, gpu.context());
                                      }},
                           command),
                what);
      nodes.push_back(node);
    }
    gpu.check(driver.graphInstantiate(&exec, graph, 0), what);
  } catch (...) {
    reset();
    throw;
  }
  recorded.assign(commands.begin(), commands.end());
  for (const Command &command : commands)
    functions.push_back(functionOf(command));
  ++theRecordings;
}

void Graph::update(Stream &stream, std::span<const Command> commands) {
  const Driver &driver = gpu.driver();
  for (size_t i = 0; i < commands.size(); ++i) {
    if (commands[i] == recorded[i])
      continue;
    Result result =
        std::visit(Overloaded{[&](const Launch &c) {
                                KernelNode kernel(c);
                                return driver.graphSetKernel(exec, nodes[i],
                                                             &kernel.params);
                              },
                              [&](const Copy &c) {
                                CopyParams params = paramsOf(c);
                                return driver.graphSetCopy(
                                    exec, nodes[i], &params, gpu.context());
                              },
                              [&](const Fill &c) {
                                FillParams params = paramsOf(c);
                                return driver.graphSetFill(
                                    exec, nodes[i], &params, gpu.context());
                              }},
                   commands[i]);
    stream.check(result, "changing a graph");
    recorded[i] = commands[i];
    ++theUpdates;
  }
}

void Graph::run(Stream &stream, std::span<const Command> commands) {
  if (commands.empty())
    return;
  gpu.checkAlive();
  std::lock_guard guard(mutex);
  ContextScope current(gpu);
  if (matches(commands))
    update(stream, commands);
  else
    record(commands);
  for (const Command &command : commands)
    if (auto *launch = std::get_if<Launch>(&command))
      stream.noteLaunch(launch->kernel->place());
  stream.check(gpu.driver().graphLaunch(exec, stream.get()), "running a graph");
}

} // namespace tessera::runtime::cuda
