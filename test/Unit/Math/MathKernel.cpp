// Builds, expands and compiles the kernels of the math tests.
#include "MathKernel.h"
#include "lowering/CodeGen/LowerToLLVM.h"
#include "lowering/CodeGen/Optimize.h"
#include "lowering/Math/ExpandMath.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Debug.h"
#include <atomic>

using namespace mlir;
using namespace tessera::lowering;

namespace tessera::test {

static std::string kernelText(const MathKernelSpec &spec) {
  std::string memory =
      "memref<" + std::to_string(kMaxElements) + "x" + spec.element + ">";
  int64_t width = std::max<int64_t>(spec.width, 1);
  std::string type =
      spec.width ? "vector<" + std::to_string(width) + "x" + spec.element + ">"
                 : spec.element;
  std::string of = spec.width ? memory + ", " + type : memory;
  std::string dialect = spec.width ? "vector" : "memref";
  auto load = [&](std::string name) {
    return "    %" + name + " = " + dialect + ".load %m" + name +
           "[%at] : " + of + "\n";
  };
  std::string text = "func.func @math(%ma: " + memory + ", %mb: " + memory +
                     ", %out: " + memory;
  text +=
      ", %begin: index, %end: index) attributes {tessera.launch = 1 : i64} {\n"
      "  %one = arith.constant 1 : index\n  %width = arith.constant " +
      std::to_string(width) +
      " : index\n"
      "  scf.for %i = %begin to %end step %one {\n    %at = arith.muli %i, "
      "%width : index\n";
  text += load("a") + (spec.isBinary() ? load("b") : "");
  text += "    %r = math." + spec.op + " %a" + (spec.isBinary() ? ", %b" : "") +
          " : " + type + "\n";
  text += "    " + dialect + ".store %r, %out[%at] : " + of +
          "\n  }\n  return\n}\n";
  return text;
}

namespace {
/// A context that lives as long as the module made in it.
struct ParsedKernel {
  DialectRegistry registry;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;

  explicit ParsedKernel(const MathKernelSpec &spec) {
    registerCodeGenDialects(registry);
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(kernelText(spec),
                                         ParserConfig(context.get()));
    assert(module && "the kernel's text parses");
  }
};
} // namespace

static IRModule compileToIR(const MathKernelSpec &spec,
                            const TargetInfo &target,
                            const std::string &suffix) {
  ParsedKernel kernel(spec);
  LowerOptions options{expandKernelMath, suffix};
  if (failed(lowerKernelModule(*kernel.module, target, options)))
    llvm::cantFail(llvm::createStringError("the kernel does not lower"));
  IRModule ir = llvm::cantFail(translateToIR(*kernel.module));
  llvm::cantFail(optimize(ir, target));
  return ir;
}

MathKernel compileMath(const MathKernelSpec &spec, const TargetInfo &target) {
  static std::atomic<int> count{0};
  std::string suffix = "_math" + std::to_string(count++);
  std::string object =
      llvm::cantFail(emitObject(compileToIR(spec, target, suffix), target));
  MathKernel kernel;
  kernel.object = llvm::cantFail(loadObject(object, suffix));
  kernel.entry = reinterpret_cast<decltype(kernel.entry)>(
      kernel.object->lookup("math" + suffix));
  assert(kernel.entry && "the kernel is exported");
  kernel.width = std::max<int64_t>(spec.width, 1);
  return kernel;
}

void MathKernel::run(const void *a, const void *b, void *out, int64_t n) const {
  assert(n % width == 0 && n <= kMaxElements);
  void *buffers[] = {const_cast<void *>(a), const_cast<void *>(b), out};
  entry(buffers, 0, n / width);
}

std::string mathAssembly(const MathKernelSpec &spec, const TargetInfo &target) {
  return llvm::cantFail(emitAssembly(compileToIR(spec, target, ""), target));
}

int64_t countExpandedOps(const MathKernelSpec &spec, const TargetInfo &target) {
  ParsedKernel kernel(spec);
  auto count = [&] {
    int64_t ops = 0;
    kernel.module->walk(
        [&](Operation *op) { ops += !op->hasTrait<OpTrait::ConstantLike>(); });
    return ops;
  };
  int64_t before = count();
  if (failed(expandKernelMath(*kernel.module, target)))
    llvm::cantFail(llvm::createStringError("the kernel does not expand"));
  return count() - before + 1;
}

} // namespace tessera::test
