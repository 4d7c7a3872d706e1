// The lowering of GPU kernel modules: the steps of CPU kernels, with the GPU's
// ops and address spaces.
#include "lowering/GPU/LowerToNVVM.h"
#include "lowering/CodeGen/Formula.h"
#include "lowering/CodeGen/GpuTarget.h"
#include "lowering/CodeGen/LowerSteps.h"
#include "lowering/CodeGen/VerifyKernel.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace tessera::lowering {

namespace {

constexpr StringRef kShared = "tessera.shared";

bool isBuffer(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer && buffer.hasStaticShape() && buffer.getLayout().isIdentity();
}

/// The kernel's parameters: buffers, then numbers. Gives how many buffers.
FailureOr<int64_t> countBuffers(gpu::GPUFuncOp func) {
  ArrayRef<Type> types = func.getArgumentTypes();
  ArrayRef<Type> numbers = types.drop_while(isBuffer);
  if (llvm::all_of(numbers,
                   [](Type type) { return type.isIntOrIndexOrFloat(); }))
    return int64_t(types.size() - numbers.size());
  return func.emitError("a kernel takes memrefs of static shape and identity "
                        "layout, then numbers");
}

/// Threads of a block, from known_block_size.
FailureOr<int64_t> threadsOf(gpu::GPUFuncOp func) {
  auto size = func.getKnownBlockSize();
  if (!size)
    return func.emitError("a kernel needs known_block_size");
  int64_t threads = 1;
  for (int32_t extent : *size)
    threads *= extent;
  if (threads < 1 || threads > GpuTarget::kThreadsPerBlock)
    return func.emitError("a block has 1 to ")
           << GpuTarget::kThreadsPerBlock << " threads, not " << threads;
  return threads;
}

/// Shared memory that the kernel declares; what it asks for at launch is beside
/// it.
LogicalResult checkShared(gpu::GPUFuncOp func, int64_t dynamic,
                          const GpuTarget &gpu) {
  int64_t declared = 0;
  for (BlockArgument buffer : func.getWorkgroupAttributions()) {
    auto type = cast<MemRefType>(buffer.getType());
    declared += llvm::divideCeil(type.getElementTypeBitWidth(), 8) *
                type.getNumElements();
  }
  if (declared > GpuTarget::kStaticShared)
    return func.emitError("it declares ")
           << declared << " bytes of shared memory, more than the "
           << GpuTarget::kStaticShared
           << " that can be declared: take dynamic shared memory";
  if (declared + dynamic > gpu.sharedPerBlock)
    return func.emitError("it needs ")
           << declared + dynamic << " bytes of shared memory, and a block has "
           << gpu.sharedPerBlock << " on " << gpu.name;
  return success();
}

FailureOr<LaunchInfo> prepareLaunch(gpu::GPUFuncOp func, StringRef suffix,
                                    const GpuTarget &gpu) {
  FailureOr<int64_t> buffers = countBuffers(func), threads = threadsOf(func);
  if (failed(buffers) || failed(threads))
    return failure();
  Attribute blocks = func->removeAttr("tessera.launch");
  Attribute bytes = func->removeAttr("tessera.workspace");
  func->removeAttr(kBufferBytes);
  auto shared = dyn_cast_or_null<IntegerAttr>(func->removeAttr(kShared));
  auto grid = blocks ? formulaOf(blocks) : runtime::SizeFormula{1, {}};
  auto workspace = bytes ? formulaOf(bytes) : runtime::SizeFormula();
  if (!grid || !workspace)
    return func.emitError("a launch has its blocks and its workspace as a "
                          "number, or as a formula of the dimensions");
  LaunchInfo info;
  info.name = func.getName().str();
  info.symbol = info.name + suffix.str();
  info.tiles = grid->constant;
  info.tileTerms = grid->terms;
  info.workspaceBytes = workspace->constant;
  info.workspaceTerms = workspace->terms;
  info.buffers = *buffers;
  info.takesDims = bool(func->removeAttr("tessera.dims"));
  info.threads = *threads;
  info.sharedBytes = shared ? shared.getInt() : 0;
  if (failed(checkShared(func, info.sharedBytes, gpu)))
    return failure();
  markBufferArguments(func);
  func.setName(info.symbol);
  return info;
}

LogicalResult convertToNVVM(gpu::GPUModuleOp module) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  options.useBarePtrCallConv = true;
  options.allocLowering = LowerToLLVMOptions::AllocLowering::None;
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(context, options);
  configureGpuToNVVMTypeConverter(converter);
  RewritePatternSet patterns(context);
  // LLVM's intrinsics come before the functions of libdevice, which upstream
  // would call.
  populateFusedMultiplyAddPatterns(converter, patterns, /*hasFMA=*/true);
  populateMathToLLVMConversionPatterns(converter, patterns,
                                       /*approximateLog1p=*/false,
                                       /*benefit=*/5);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns,
                                         /*reassociateFPReductions=*/false,
                                         /*force32BitVectorIndices=*/true);
  populateGpuToNVVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget conversion(*context);
  conversion.addLegalDialect<NVVM::NVVMDialect>();
  conversion.addLegalOp<gpu::GPUModuleOp>();
  return applyFullConversion(module, conversion, std::move(patterns));
}

/// The functions and globals of the gpu.module become the module's.
void flatten(ModuleOp module, gpu::GPUModuleOp kernels) {
  Block *body = module.getBody();
  body->getOperations().splice(kernels->getIterator(),
                               kernels.getBody(0)->getOperations());
  kernels.erase();
}

/// Shared memory that the launch sizes is declared elsewhere. Upstream makes it
/// a definition of no bytes, which would lie on top of what is declared.
void declareDynamicShared(ModuleOp module) {
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    auto array = dyn_cast<LLVM::LLVMArrayType>(global.getType());
    if (global.getAddrSpace() != NVVM::NVVMMemorySpace::Shared || !array ||
        array.getNumElements() != 0)
      continue;
    global.setLinkage(LLVM::Linkage::External);
    global.getInitializerRegion().getBlocks().clear();
    global.removeValueAttr();
  }
}

/// A call of a function without a body would only be found by the driver.
LogicalResult checkCalls(ModuleOp module) {
  for (auto func : module.getOps<LLVM::LLVMFuncOp>())
    if (func.isExternal())
      return func.emitError("a kernel calls '")
             << func.getName() << "', which there is no code for";
  return success();
}

} // namespace

void registerGpuDialects(DialectRegistry &registry) {
  registerCodeGenDialects(registry);
  registry.insert<gpu::GPUDialect, NVVM::NVVMDialect>();
  registerNVVMDialectTranslation(registry);
}

LogicalResult lowerGpuModule(ModuleOp module, const TargetInfo &target,
                             const LowerOptions &options,
                             std::vector<LaunchInfo> *launches) {
  assert(target.gpu && "a GPU kernel is for a GPU");
  module.getContext()
      ->loadDialect<arith::ArithDialect, func::FuncDialect, scf::SCFDialect,
                    vector::VectorDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                    cf::ControlFlowDialect, affine::AffineDialect,
                    ub::UBDialect>();
  auto gpuModules = llvm::to_vector(module.getOps<gpu::GPUModuleOp>());
  if (gpuModules.size() != 1)
    return module.emitError("a GPU kernel module has one gpu.module, not ")
           << gpuModules.size();
  gpu::GPUModuleOp kernels = gpuModules.front();
  if (options.expandMath && failed(options.expandMath(module, target)))
    return failure();
  if (failed(verifyKernelModule(module, target)))
    return failure();
  std::vector<LaunchInfo> infos;
  for (auto func : kernels.getOps<gpu::GPUFuncOp>()) {
    if (!func.isKernel())
      continue;
    FailureOr<LaunchInfo> info =
        prepareLaunch(func, options.symbolSuffix, *target.gpu);
    if (failed(info))
      return failure();
    infos.push_back(std::move(*info));
  }
  if (failed(expandCompoundOps(module)) || failed(lowerControlFlow(module)) ||
      failed(convertToNVVM(kernels)))
    return failure();
  flatten(module, kernels);
  declareDynamicShared(module);
  if (failed(checkCalls(module)))
    return failure();
  for (auto func : module.getOps<LLVM::LLVMFuncOp>())
    if (!func->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName())) {
      // A call costs a stack, and registers that are kept around it.
      func.setLinkage(LLVM::Linkage::Internal);
      func.setNoInline(false);
      func.setAlwaysInline(true);
      func.removePassthroughAttr();
    }
  if (launches)
    *launches = std::move(infos);
  return success();
}

} // namespace tessera::lowering
