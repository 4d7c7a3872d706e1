// tessera-opt: reads a program, runs the passes that are named, and prints it.
#include "dialects/Tessera/IR/Tessera.h"
#include "dialects/Tessera/Transforms/Passes.h"
#include "lowering/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<tessera::ir::TesseraDialect, mlir::func::FuncDialect,
                  mlir::arith::ArithDialect, mlir::math::MathDialect,
                  mlir::scf::SCFDialect, mlir::cf::ControlFlowDialect,
                  mlir::memref::MemRefDialect, mlir::vector::VectorDialect,
                  mlir::affine::AffineDialect, mlir::ub::UBDialect,
                  mlir::x86vector::X86VectorDialect, mlir::LLVM::LLVMDialect,
                  mlir::gpu::GPUDialect, mlir::NVVM::NVVMDialect>();
  mlir::func::registerInlinerExtension(registry);
  mlir::registerTransformsPasses();
  tessera::ir::registerPasses();
  tessera::lowering::registerTesseraLoweringPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Tessera's optimizer driver\n", registry));
}
