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

#endif
