// The test driver's graphs.
#include "test/Cuda/World.h"

#include <algorithm>

using namespace tessera::test;

namespace {

bool checkKernel(Call &call, const KernelNodeParams *params,
                 CUgraphNode_st &node) {
  TestLaunch launch;
  if (!readLaunch(call, params->function, params->grid, params->block,
                  params->sharedBytes, params->parameters, launch))
    return false;
  node.work = std::move(launch);
  node.function = params->function;
  return true;
}

bool checkCopy(Call &call, const CopyParams *params, CUgraphNode_st &node) {
  World &world = World::instance();
  if (params->source.memoryType != kMemoryDevice ||
      params->destination.memoryType != kMemoryDevice || params->height != 1 ||
      params->depth != 1 || params->width == 0) {
    call.misuse("a copy that is not of bytes on the GPU");
    return false;
  }
  if (!world.find(params->source.device, params->width, "graph copy") ||
      !world.find(params->destination.device, params->width, "graph copy"))
    return false;
  node.work = *params;
  return true;
}

bool checkFill(Call &call, const FillParams *params, CUgraphNode_st &node) {
  if (params->elementBytes != 1 || params->height != 1 || params->width == 0 ||
      params->value > 255) {
    call.misuse("a fill that is not of bytes");
    return false;
  }
  if (!World::instance().find(params->destination, params->width, "graph fill"))
    return false;
  node.work = *params;
  return true;
}

Result addNode(Call &call, World &world, GraphNode *result, GraphHandle graph,
               const GraphNode *dependencies, size_t count,
               CUgraphNode_st node) {
  if (!world.graphs.count(graph))
    return call.misuse("a graph that is not alive");
  for (size_t i = 0; i < count; ++i) {
    bool isOurs = std::ranges::any_of(graph->nodes, [&](const auto &other) {
      return other.get() == dependencies[i];
    });
    if (!isOurs)
      return call.misuse("a dependency of another graph");
    node.dependencies.push_back(dependencies[i]);
  }
  node.context = call.context();
  graph->nodes.push_back(std::make_unique<CUgraphNode_st>(std::move(node)));
  *result = graph->nodes.back().get();
  return Result::Success;
}

// The node of an executable graph that is to change.
CUgraphNode_st *nodeOf(Call &call, World &world, GraphExec exec,
                       GraphNode node) {
  if (!world.execs.count(exec)) {
    call.misuse("an executable graph that is not alive");
    return nullptr;
  }
  auto found = exec->nodes.find(node);
  if (found == exec->nodes.end()) {
    call.misuse("a node of another graph");
    return nullptr;
  }
  return &found->second;
}

Operation operationOf(World &world, const CUgraphNode_st &node) {
  if (auto *launch = std::get_if<TestLaunch>(&node.work))
    return kernelOperation(world, node.function, *launch);
  if (auto *copy = std::get_if<CopyParams>(&node.work))
    return copyOperation(world, "graph copy", copy->destination.device,
                         copy->source.device, copy->width);
  const auto &fill = std::get<FillParams>(node.work);
  return fillOperation(world, fill.destination,
                       static_cast<unsigned char>(fill.value), fill.width);
}

} // namespace

extern "C" {

Result cuGraphCreate(GraphHandle *graph, unsigned flags) {
  ENTER(cuGraphCreate, true);
  if (flags != 0)
    return call.misuse("flags");
  *graph = new CUgraph_st;
  world.graphs.insert(*graph);
  return Result::Success;
}

Result cuGraphDestroy(GraphHandle graph) {
  ENTER(cuGraphDestroy, true);
  if (!world.graphs.erase(graph))
    return call.misuse("a graph that is not alive");
  delete graph;
  return Result::Success;
}

Result cuGraphAddKernelNode(GraphNode *node, GraphHandle graph,
                            const GraphNode *dependencies, size_t count,
                            const KernelNodeParams *params) {
  ENTER(cuGraphAddKernelNode, true);
  CUgraphNode_st added;
  if (!checkKernel(call, params, added))
    return Result::InvalidValue;
  return addNode(call, world, node, graph, dependencies, count,
                 std::move(added));
}

Result cuGraphAddMemcpyNode(GraphNode *node, GraphHandle graph,
                            const GraphNode *dependencies, size_t count,
                            const CopyParams *params, Context context) {
  ENTER(cuGraphAddMemcpyNode, true);
  CUgraphNode_st added;
  if (context != call.context())
    return call.misuse("a copy in another context");
  if (!checkCopy(call, params, added))
    return Result::InvalidValue;
  return addNode(call, world, node, graph, dependencies, count,
                 std::move(added));
}

Result cuGraphAddMemsetNode(GraphNode *node, GraphHandle graph,
                            const GraphNode *dependencies, size_t count,
                            const FillParams *params, Context context) {
  ENTER(cuGraphAddMemsetNode, true);
  CUgraphNode_st added;
  if (context != call.context())
    return call.misuse("a fill in another context");
  if (!checkFill(call, params, added))
    return Result::InvalidValue;
  return addNode(call, world, node, graph, dependencies, count,
                 std::move(added));
}

Result cuGraphInstantiateWithFlags(GraphExec *exec, GraphHandle graph,
                                   unsigned long long flags) {
  ENTER(cuGraphInstantiateWithFlags, true);
  if (flags != 0 || !world.graphs.count(graph))
    return call.misuse("a graph that is not alive, or flags");
  *exec = new CUgraphExec_st;
  for (const auto &node : graph->nodes) {
    (*exec)->nodes[node.get()] = *node;
    (*exec)->order.push_back(node.get());
  }
  world.execs.insert(*exec);
  return Result::Success;
}

Result cuGraphExecDestroy(GraphExec exec) {
  ENTER(cuGraphExecDestroy, true);
  if (!world.execs.erase(exec))
    return call.misuse("an executable graph that is not alive");
  delete exec;
  return Result::Success;
}

Result cuGraphExecKernelNodeSetParams(GraphExec exec, GraphNode node,
                                      const KernelNodeParams *params) {
  ENTER(cuGraphExecKernelNodeSetParams, true);
  CUgraphNode_st *changed = nodeOf(call, world, exec, node);
  if (!changed)
    return Result::InvalidValue;
  if (changed->function != params->function)
    return call.misuse("a node cannot change its kernel");
  return checkKernel(call, params, *changed) ? Result::Success
                                             : Result::InvalidValue;
}

Result cuGraphExecMemcpyNodeSetParams(GraphExec exec, GraphNode node,
                                      const CopyParams *params, Context) {
  ENTER(cuGraphExecMemcpyNodeSetParams, true);
  CUgraphNode_st *changed = nodeOf(call, world, exec, node);
  if (!changed)
    return Result::InvalidValue;
  return checkCopy(call, params, *changed) ? Result::Success
                                           : Result::InvalidValue;
}

Result cuGraphExecMemsetNodeSetParams(GraphExec exec, GraphNode node,
                                      const FillParams *params, Context) {
  ENTER(cuGraphExecMemsetNodeSetParams, true);
  CUgraphNode_st *changed = nodeOf(call, world, exec, node);
  if (!changed)
    return Result::InvalidValue;
  return checkFill(call, params, *changed) ? Result::Success
                                           : Result::InvalidValue;
}

// Nodes have been added after those that they depend on; without a dependency
// between them, the later one comes first here, so that a missing one shows.
Result cuGraphLaunch(GraphExec exec, StreamHandle stream) {
  ENTER(cuGraphLaunch, true);
  if (!world.execs.count(exec))
    return call.misuse("an executable graph that is not alive");
  if (!call.owns(world.streams, stream))
    return call.result();
  std::vector<CUgraphNode_st *> left = exec->order;
  while (!left.empty()) {
    auto next = std::find_if(left.rbegin(), left.rend(), [&](auto *node) {
      return std::ranges::none_of(
          exec->nodes[node].dependencies,
          [&](auto *needed) { return std::ranges::count(left, needed) > 0; });
    });
    world.enqueue(stream, operationOf(world, exec->nodes[*next]));
    left.erase(std::next(next).base());
  }
  return Result::Success;
}

} // extern "C"
