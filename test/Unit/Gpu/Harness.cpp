// Compilation of test programs, and their launches.
#include "test/Unit/Gpu/Harness.h"
#include "dialects/Tessera/IR/Symbols.h"
#include "lowering/GPU/LowerToNVVM.h"
#include "lowering/Math/ExpandMath.h"
#include "lowering/Pipeline.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tessera::ir;
using namespace tessera::lowering;

namespace tessera::test {

namespace {

LogicalResult toPlan(ModuleOp module) {
  if (StandIns::count() > 0 && failed(bindSymbols(module)))
    return failure();
  if (failed(toTensorStage(module)) ||
      failed(toKernelsStage(module, /*fuse=*/true)))
    return failure();
  return toPlanStage(module);
}

LogicalResult compile(ModuleOp module, const TargetInfo &target, bool counts,
                      GpuKernel &kernel) {
  StandIns standIns(symbolCount(module));
  if (failed(toPlan(module)))
    return failure();
  std::vector<KernelJob> jobs = kernelJobs(mainFunction(module), target);
  if (jobs.size() != 1)
    return module.emitError("has ") << jobs.size() << " kernels";
  for (KernelOp op : mainFunction(module).getOps<KernelOp>())
    for (Value input : op.getInputs()) {
      auto argument = dyn_cast<BlockArgument>(input);
      if (!argument)
        return op.emitError("reads no argument of the program");
      kernel.inputs.push_back(argument.getArgNumber());
    }
  auto made = jobs[0].build(*module.getContext());
  if (failed(made) ||
      failed(lowerGpuModule(**made, target, {expandKernelMath, ""},
                            &kernel.launches)))
    return failure();
  SimOptions options;
  options.counters = counts;
  auto program = compileForSim(**made, options);
  if (!program)
    return module.emitError(llvm::toString(program.takeError()));
  kernel.program = std::move(*program);
  return success();
}

} // namespace

GpuKernel compileProgram(const std::string &text, const std::string &arch,
                         bool counts, bool tf32) {
  GpuKernel kernel;
  TargetInfo target = llvm::cantFail(gpuTargetFor(arch));
  if (tf32)
    allowTF32(target);
  kernel.gpu = target.gpu;
  DialectRegistry registry;
  registry.insert<TesseraDialect>();
  registerGpuDialects(registry);
  registerSimDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler(
      [&](Diagnostic &diagnostic) { kernel.error += diagnostic.str() + "\n"; });
  auto module = parseSourceString<ModuleOp>(text, &context, "program.mlir");
  if (!module || failed(compile(*module, target, counts, kernel)))
    kernel.error += "it does not compile:\n" + text;
  return kernel;
}

std::string runKernel(const GpuKernel &kernel,
                      std::vector<runtime::sim::Extent> buffers,
                      std::vector<int64_t> dims, uint64_t seed,
                      runtime::sim::Counters *counters) {
  if (!kernel.error.empty())
    return kernel.error;
  const int64_t *numbers = dims.data();
  std::vector<runtime::sim::Extent> ordered;
  for (unsigned input : kernel.inputs)
    ordered.push_back(buffers[input]);
  ordered.insert(ordered.end(), buffers.begin() + ordered.size(),
                 buffers.end());
  std::vector<char> workspace;
  for (const LaunchInfo &launch : kernel.launches) {
    std::vector<runtime::sim::Extent> extents = ordered;
    runtime::SizeFormula bytes{launch.workspaceBytes, launch.workspaceTerms};
    workspace.resize(std::max<size_t>(workspace.size(), bytes.at(numbers)));
    if (launch.hasWorkspace())
      extents.push_back(bufferOf(workspace));
    if (launch.takesDims)
      extents.push_back({numbers, dims.size() * 8, false});
    if (int64_t(extents.size()) != launch.buffers)
      return "it takes " + std::to_string(launch.buffers) + " buffers";
    std::vector<void *> args;
    for (runtime::sim::Extent &extent : extents)
      args.push_back(&extent.begin);
    runtime::sim::LaunchConfig config;
    runtime::SizeFormula tiles{launch.tiles, launch.tileTerms};
    config.grid.x = uint32_t(tiles.at(numbers));
    config.block.x = uint32_t(launch.threads);
    config.dynamicSharedBytes = uint32_t(launch.sharedBytes);
    config.maxSharedBytes = uint32_t(kernel.gpu->sharedPerBlock);
    config.checks = runtime::sim::Checks::all();
    config.seed = seed;
    if (config.grid.x == 0)
      continue;
    const tessera_sim_kernel *code = kernel.program.find(launch.symbol);
    if (!code)
      return "there is no " + launch.symbol;
    auto result = runtime::sim::launch(*code, config, args.data(), extents);
    if (!result)
      return result.error;
    if (counters)
      *counters += result.counters;
  }
  return "";
}

//===- Products ----------------------------------------------------------===//

std::string ProductText::typeOf(char operand, std::string element) const {
  if (element.empty())
    element = operand == 'y' || narrow.empty() ? type : narrow;
  auto size = [&](char name, int64_t value) {
    return (symbol == name ? "?" : std::to_string(value)) + "x";
  };
  std::string sizes = batch ? size('b', batch) : "";
  std::string rows = size('m', m), columns = size('n', n), inner = size('k', k);
  if (operand == 'a')
    sizes += transA ? inner + rows : rows + inner;
  else if (operand == 'b')
    sizes += transB ? columns + inner : inner + columns;
  else
    sizes += rows + columns;
  return "tensor<" + sizes + element + ">";
}

std::string ProductText::text() const {
  std::string y = typeOf('y');
  auto list = [](int64_t number) {
    return "array<i64: " + std::to_string(number) + ">";
  };
  int64_t first = batch ? 1 : 0;
  std::string dims = batch ? list(0) : "array<i64>";
  std::string a = producers.find("%x =") != producers.npos ? "%x" : "%a",
              b = producers.find("%w =") != producers.npos ? "%w" : "%b";
  std::string text =
      "func.func @main(%a: " + typeOf('a') + ", %b: " + typeOf('b') +
      (epilogue.empty() ? "" : ", %c: " + y) + ") -> " + y + " {\n" + producers;
  auto convert = [&](std::string &value, char operand) {
    text += "  " + value + "f = tessera.convert " + value + " : " +
            typeOf(operand) + " -> " + typeOf(operand, type) + "\n";
    value += "f";
  };
  if (!narrow.empty()) {
    convert(a, 'a');
    convert(b, 'b');
  }
  return text + "  %y = tessera.dot_general " + a + ", " + b +
         " {a_batch = " + dims + ", b_batch = " + dims +
         ", a_contract = " + list(transA ? first : first + 1) +
         ", b_contract = " + list(transB ? first + 1 : first) + "} : (" +
         typeOf('a', type) + ", " + typeOf('b', type) + ") -> " + y + "\n" +
         epilogue + "  return " + (epilogue.empty() ? "%y" : "%z") + " : " + y +
         "\n}\n";
}

} // namespace tessera::test
