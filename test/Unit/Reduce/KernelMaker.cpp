// Builds, compiles and runs the kernels of the reduction tests.
#include "KernelMaker.h"
#include "lowering/CPU/Emit.h"
#include "lowering/CodeGen/Optimize.h"
#include "lowering/Math/ExpandMath.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <atomic>
#include <ctime>
#include <numeric>
#include <random>

using namespace mlir;
using namespace tessera::ir;
using namespace tessera::lowering;

namespace tessera::test {

static std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerCodeGenDialects(registry);
  registry.insert<TesseraDialect>();
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

KernelMaker::KernelMaker() : context(makeContext()), builder(context.get()) {
  module = ModuleOp::create(builder.getUnknownLoc());
  block = new Block();
  builder.setInsertionPointToEnd(block);
}

Expr KernelMaker::input(ArrayRef<int64_t> shape, Type element) {
  return Expr(builder, loc(), block->addArgument(type(shape, element), loc()));
}

KernelOp KernelMaker::finish(KernelKind kind) {
  YieldOp::create(builder, loc(), outputs);
  builder.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> types(ValueRange(outputs).getTypes());
  auto function = func::FuncOp::create(
      builder, loc(), "main",
      builder.getFunctionType(block->getArgumentTypes(), types));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  SmallVector<Value> inputs(function.getArguments());
  auto kernel = KernelOp::create(builder, loc(), types, kind, inputs);
  kernel.getBody().push_back(block);
  func::ReturnOp::create(builder, loc(), kernel.getOutputs());
  EXPECT_TRUE(succeeded(verify(*module)));
  return kernel;
}

//===- Compilation -------------------------------------------------------===//

static OwningOpRef<ModuleOp> emitModule(KernelOp kernel,
                                        const TargetInfo &target) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  if (failed(cpu::emitKernel(kernel, "kernel", target, *module)) ||
      failed(verify(*module))) {
    ADD_FAILURE() << "the kernel is not emitted";
    return nullptr;
  }
  return module;
}

static std::optional<IRModule> toIR(KernelOp kernel, const TargetInfo &target,
                                    const std::string &suffix,
                                    std::vector<LaunchInfo> &launches) {
  OwningOpRef<ModuleOp> module = emitModule(kernel, target);
  LowerOptions options{expandKernelMath, suffix};
  if (!module ||
      failed(lowerKernelModule(*module, target, options, &launches))) {
    ADD_FAILURE() << "the kernel does not lower";
    return std::nullopt;
  }
  IRModule ir = llvm::cantFail(translateToIR(*module));
  llvm::cantFail(optimize(ir, target));
  return ir;
}

std::string kernelLoops(KernelOp kernel, const TargetInfo &target) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (OwningOpRef<ModuleOp> module = emitModule(kernel, target))
    module->print(os);
  return text;
}

std::string kernelIR(KernelOp kernel, const TargetInfo &target) {
  std::vector<LaunchInfo> launches;
  std::optional<IRModule> ir = toIR(kernel, target, "", launches);
  return ir ? printIR(*ir) : "";
}

std::string kernelAssembly(KernelOp kernel, const TargetInfo &target) {
  std::vector<LaunchInfo> launches;
  std::optional<IRModule> ir = toIR(kernel, target, "", launches);
  return ir ? llvm::cantFail(emitAssembly(*ir, target)) : "";
}

static int64_t byteSize(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() *
         std::max<int64_t>(1, tensor.getElementTypeBitWidth() / 8);
}

double threadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

std::optional<CompiledKernel> compileKernel(KernelOp kernel,
                                            const TargetInfo &target) {
  static std::atomic<int> count{0};
  std::string suffix = "_reduce" + std::to_string(count++);
  CompiledKernel compiled;
  double start = threadSeconds();
  std::optional<IRModule> ir = toIR(kernel, target, suffix, compiled.launches);
  if (!ir)
    return std::nullopt;
  auto object = emitObject(std::move(*ir), target);
  if (!object) {
    ADD_FAILURE() << llvm::toString(object.takeError());
    return std::nullopt;
  }
  compiled.milliseconds = (threadSeconds() - start) * 1000;
  compiled.object = llvm::cantFail(loadObject(*object, suffix));
  for (Type type : kernel.getOutputs().getTypes())
    compiled.outputBytes.push_back(byteSize(type));
  return compiled;
}

//===- Running -----------------------------------------------------------===//

namespace {

constexpr size_t kMargin = 64;

/// Memory aligned to 64 bytes, with known bytes around it.
struct Guarded {
  explicit Guarded(size_t size) : size(size), memory(size + 3 * kMargin, 0xA5) {
    auto address = reinterpret_cast<uintptr_t>(memory.data()) + kMargin;
    data = reinterpret_cast<uint8_t *>((address + 63) / 64 * 64);
  }
  bool isIntact() const {
    auto untouched = [](const uint8_t *from, const uint8_t *to) {
      return std::all_of(from, to, [](uint8_t byte) { return byte == 0xA5; });
    };
    return untouched(memory.data(), data) &&
           untouched(data + size, memory.data() + memory.size());
  }
  size_t size;
  Bytes memory;
  uint8_t *data;
};

} // namespace

int64_t CompiledKernel::workspaceBytes() const {
  int64_t bytes = 0;
  for (const LaunchInfo &launch : launches)
    bytes = std::max(bytes, launch.workspaceBytes);
  return bytes;
}

void CompiledKernel::runOn(void *const *buffers) const {
  using Function = void (*)(void *const *, int64_t, int64_t);
  for (const LaunchInfo &launch : launches)
    reinterpret_cast<Function>(object->lookup(launch.symbol))(buffers, 0,
                                                              launch.tiles);
}

std::vector<Bytes> CompiledKernel::run(const std::vector<Bytes> &inputs) const {
  std::vector<Guarded> memory;
  memory.reserve(inputs.size() + outputBytes.size() + 1);
  for (const Bytes &input : inputs) {
    memory.emplace_back(input.size());
    std::copy(input.begin(), input.end(), memory.back().data);
  }
  for (int64_t bytes : outputBytes)
    memory.emplace_back(bytes);
  memory.emplace_back(workspaceBytes());
  std::vector<void *> buffers;
  for (Guarded &block : memory)
    buffers.push_back(block.data);
  using Function = void (*)(void *const *, int64_t, int64_t);
  std::mt19937 random(1);
  for (const LaunchInfo &launch : launches) {
    auto *function = reinterpret_cast<Function>(object->lookup(launch.symbol));
    std::vector<int64_t> tiles(launch.tiles);
    std::iota(tiles.begin(), tiles.end(), 0);
    std::shuffle(tiles.begin(), tiles.end(), random);
    for (int64_t tile : tiles)
      function(buffers.data(), tile, tile + 1);
  }
  std::vector<Bytes> outputs;
  for (const Guarded &block : memory)
    EXPECT_TRUE(block.isIntact()) << "a kernel wrote outside its buffers";
  for (size_t i = 0; i < outputBytes.size(); ++i) {
    const Guarded &block = memory[inputs.size() + i];
    outputs.emplace_back(block.data, block.data + block.size);
  }
  return outputs;
}

void checkKernel(KernelOp kernel, uint32_t seed, bool special) {
  std::vector<Bytes> inputs;
  for (Value input : kernel.getInputs())
    inputs.push_back(randomTensor(tensorType(input), seed++, special));
  static int checked = 0;
  SmallVector<StringRef> cpus{"x86-64", "x86-64-v3"};
  if (checked++ % 4 == 0)
    cpus.push_back("x86-64-v4");
  TargetInfo host = hostTarget();
  for (StringRef cpu : cpus) {
    TargetInfo target = llvm::cantFail(targetFor(cpu));
    std::optional<CompiledKernel> compiled = compileKernel(kernel, target);
    if (!compiled || (target.hasAVX512 && !host.hasAVX512) ||
        (target.hasAVX2 && !host.hasAVX2))
      continue;
    std::vector<Bytes> want = evaluateKernel(kernel, inputs, target),
                       got = compiled->run(inputs);
    for (auto [i, type] : llvm::enumerate(kernel.getOutputs().getTypes()))
      EXPECT_EQ(countDifferences(cast<RankedTensorType>(type), got[i], want[i]),
                0)
          << "output " << i << ", " << typeText(type) << " on " << cpu.str();
  }
}

} // namespace tessera::test
