// The lowering of kernel modules: expand what has no direct counterpart,
// structured control flow, everything to LLVM.
#include "lowering/CodeGen/LowerToLLVM.h"
#include "lowering/CodeGen/Formula.h"
#include "lowering/CodeGen/LowerSteps.h"
#include "lowering/CodeGen/VerifyKernel.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/X86Vector/Transforms.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace tessera::lowering {

namespace {

LogicalResult convertToLLVM(ModuleOp module, const TargetInfo &target) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  options.useBarePtrCallConv = true;
  options.allocLowering = LowerToLLVMOptions::AllocLowering::None;
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(context, options);
  RewritePatternSet patterns(context);
  populateFusedMultiplyAddPatterns(converter, patterns, target.hasFMA);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns,
                                       /*approximateLog1p=*/false);
  populateVectorToLLVMConversionPatterns(converter, patterns,
                                         /*reassociateFPReductions=*/false,
                                         /*force32BitVectorIndices=*/true);
  populateX86VectorLegalizeForLLVMExportPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget conversion(*context);
  configureX86VectorLegalizeForExportTarget(conversion);
  conversion.addLegalOp<ModuleOp>();
  return applyFullConversion(module, conversion, std::move(patterns));
}

/// Checks the form of a launch and makes it private under another name, so that
/// the wrapper can take its own.
FailureOr<LaunchInfo> prepareLaunch(func::FuncOp func, StringRef suffix) {
  ArrayRef<Type> types = func.getArgumentTypes();
  bool isKernel = types.size() >= 2 && types.take_back(2)[0].isIndex() &&
                  types.back().isIndex() &&
                  llvm::all_of(types.drop_back(2), [](Type type) {
                    auto buffer = dyn_cast<MemRefType>(type);
                    return buffer && buffer.hasStaticShape() &&
                           buffer.getLayout().isIdentity();
                  });
  if (!isKernel || func.getNumResults() != 0)
    return func.emitError("a launch takes memrefs of static shape and identity "
                          "layout, then two of type index, and "
                          "returns nothing");
  markBufferArguments(func);
  LaunchInfo info;
  info.name = func.getName().str();
  info.symbol = info.name + suffix.str();
  auto tiles = formulaOf(func->removeAttr("tessera.launch"));
  Attribute bytes = func->removeAttr("tessera.workspace");
  auto workspace = bytes ? formulaOf(bytes) : runtime::SizeFormula();
  if (!tiles || !workspace)
    return func.emitError("a launch has its tiles and its workspace as a "
                          "number, or as a formula of the dimensions");
  info.tiles = tiles->constant;
  info.tileTerms = tiles->terms;
  info.workspaceBytes = workspace->constant;
  info.workspaceTerms = workspace->terms;
  info.buffers = types.size() - 2;
  info.takesDims = bool(func->removeAttr("tessera.dims"));
  func.setName(info.name + ".body");
  return info;
}

/// The exported function: loads the pointers and calls the body. The body stays
/// a function of its own because its noalias arguments would not survive
/// inlining into loads of pointers.
void addWrapper(ModuleOp module, const LaunchInfo &info) {
  auto body = module.lookupSymbol<LLVM::LLVMFuncOp>(info.name + ".body");
  assert(body && "every launch is converted");
  Location loc = body.getLoc();
  OpBuilder b(body->getBlock(), std::next(body->getIterator()));
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {pointer, i64, i64});
  auto wrapper = LLVM::LLVMFuncOp::create(b, loc, info.symbol, type);
  Block *entry = wrapper.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  SmallVector<Value> args;
  for (int64_t i = 0; i < info.buffers; ++i) {
    Value slot =
        LLVM::GEPOp::create(b, loc, pointer, pointer, entry->getArgument(0),
                            ArrayRef<LLVM::GEPArg>{int32_t(i)});
    args.push_back(LLVM::LoadOp::create(b, loc, pointer, slot));
  }
  args.push_back(entry->getArgument(1));
  args.push_back(entry->getArgument(2));
  LLVM::CallOp::create(b, loc, body, args);
  LLVM::ReturnOp::create(b, loc, ValueRange{});
}

} // namespace

void registerCodeGenDialects(DialectRegistry &registry) {
  registry
      .insert<func::FuncDialect, arith::ArithDialect, math::MathDialect,
              scf::SCFDialect, cf::ControlFlowDialect, memref::MemRefDialect,
              vector::VectorDialect, x86vector::X86VectorDialect, ub::UBDialect,
              affine::AffineDialect, LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

LogicalResult lowerKernelModule(ModuleOp module, const TargetInfo &target,
                                const LowerOptions &options,
                                std::vector<LaunchInfo> *launches) {
  MLIRContext *context = module.getContext();
  context->loadDialect<LLVM::LLVMDialect, cf::ControlFlowDialect,
                       affine::AffineDialect, ub::UBDialect>();
  if (options.expandMath && failed(options.expandMath(module, target)))
    return failure();
  if (failed(verifyKernelModule(module, target)))
    return failure();
  std::vector<LaunchInfo> infos;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func->hasAttr("tessera.launch")) {
      FailureOr<LaunchInfo> info = prepareLaunch(func, options.symbolSuffix);
      if (failed(info))
        return failure();
      infos.push_back(std::move(*info));
    }
    func.setPrivate();
  }
  if (failed(expandCompoundOps(module)) || failed(lowerControlFlow(module)) ||
      failed(convertToLLVM(module, target)))
    return failure();
  for (auto func : module.getOps<LLVM::LLVMFuncOp>())
    if (!func.isExternal())
      func.setLinkage(LLVM::Linkage::Internal);
  for (const LaunchInfo &info : infos)
    addWrapper(module, info);
  setTarget(module, target);
  if (launches)
    *launches = std::move(infos);
  return success();
}

} // namespace tessera::lowering
