// The passes that lead a program from stage to stage.
#ifndef TESSERA_LOWERING_PASSES_TD
#define TESSERA_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def ToTensorPass : Pass<"tessera-to-tensor", "::mlir::ModuleOp"> {
  let summary = "Trace stage to tensor stage: canonical primitives";
  let description = [{
    Decomposes composites, folds, merges common subexpressions, and brings products into the form that kernels take.

    ```mlir
    %t = tessera.transpose %x {permutation = array<i64: 1, 0>} : tensor<3x2xf32> -> tensor<2x3xf32>
    %y = tessera.dot_general %t, %w {..., a_contract = array<i64: 1>, ...}
    ```
    becomes
    ```mlir
    %y = tessera.dot_general %x, %w {..., a_contract = array<i64: 0>, ...}
    ```
  }];
}

def ToKernelsPass : Pass<"tessera-to-kernels", "::mlir::ModuleOp"> {
  let summary = "Tensor stage to kernels stage: fusion";
  let description = [{
    Puts every op into a kernel region. Memory traffic bounds most programs, and a value that stays inside a kernel is
    never written. What was joined or kept apart, and why, stands in the kernel's `reasons`.

    ```mlir
    %0 = tessera.mul %a, %b : tensor<8xf32>
    %1 = tessera.add %0, %c : tensor<8xf32>
    ```
    becomes
    ```mlir
    %1 = tessera.kernel loop(%a, %b, %c) : ... { mul, add, yield }
    ```
  }];
  let options = [Option<"fuse", "fuse", "bool", "true", "Join ops; without, each is a kernel of its own">];
}

def ToPlanPass : Pass<"tessera-to-plan", "::mlir::ModuleOp"> {
  let summary = "Kernels stage to plan stage: a place in memory for every value";
  let description = [{
    Results get their own buffers; values between kernels share one arena by their live ranges.

    ```mlir
    %0 = tessera.kernel loop(%a) : ...
    ```
    becomes
    ```mlir
    %0 = tessera.kernel loop(%a) attributes {places = [#tessera.place<arena, 0>]} : ...
    ```
  }];
}

def CpuOption : Option<"cpu", "cpu", "std::string", /*default=*/"",
                         "The CPU to compile for, such as x86-64-v3; this machine's if empty">;

def ToLoopsPass : Pass<"tessera-to-loops", "::mlir::ModuleOp"> {
  let summary = "Plan stage to loops stage: a module of loops for each kernel";
  let description = [{
    Runs the emitter of each kernel. The program becomes a list of modules, named as in a dump; the plan's calls are not
    part of them.

    ```mlir
    %0 = tessera.kernel loop(%a) attributes {places = [#tessera.place<result, 0>]} : ...
    ```
    becomes
    ```mlir
    module @loop_0 {
      func.func @loop(%a: memref<8xf32>, %0: memref<8xf32>, %begin: index, %end: index) attributes {tessera.launch = 1} { ... }
    }
    ```
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"",
                        "The CPU or GPU to compile for, such as x86-64-v3 or sm_90; this machine's CPU if empty">,
                 Option<"tf32", "tf32", "bool", /*default=*/"false",
                        "Let products of f32 be computed in tf32 by GPUs that have it">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ToLLVMPass : Pass<"tessera-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Loops stage to the LLVM dialect, for one kernel";
  let description = [{
    Expands math functions, checks the contract of kernel modules, and lowers one of them, a file `4-KERNEL.mlir` of a
    dump, to the LLVM dialect. What `mlir-translate --mlir-to-llvmir` makes of it is the LLVM stage before LLVM's passes.

    ```mlir
    func.func @loop(%a: memref<8xf32>, %b: memref<8xf32>, %begin: index, %end: index) attributes {tessera.launch = 1}
    ```
    becomes
    ```mlir
    llvm.func internal @loop.body(%a: !llvm.ptr, %b: !llvm.ptr, %begin: i64, %end: i64)
    llvm.func @loop(%buffers: !llvm.ptr, %begin: i64, %end: i64)
    ```
  }];
  let options = [CpuOption];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::affine::AffineDialect", "::mlir::ub::UBDialect"];
}

def LowerToNVVMPass : Pass<"tessera-lower-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "A GPU kernel module to the LLVM and NVVM dialects";
  let description = [{
    Expands math functions, checks the contract of kernel modules, and lowers the kernels of one gpu.module to the form
    that PTX is made of and that the emulator runs: a plain module of llvm.func.

    ```mlir
    gpu.module @kernels {
      gpu.func @loop(%a: memref<8xf32>, %n: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>}
    }
    ```
    becomes
    ```mlir
    llvm.func @loop(%a: !llvm.ptr, %n: i64) attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>}
    ```
  }];
  let options = [Option<"arch", "arch", "std::string", "\"sm_80\"", "The GPU architecture">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect", "::mlir::vector::VectorDialect"];
}

#endif
