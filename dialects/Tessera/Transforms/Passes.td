// The passes that stay inside the dialect.
#ifndef TESSERA_TRANSFORMS_PASSES_TD
#define TESSERA_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposePass : Pass<"tessera-decompose"> {
  let summary = "Replaces composites by the primitives that define them";
  let description = [{
    No bit of a result changes, since a composite's kernel computes its decomposition op by op.

    ```mlir
    %y = tessera.log_softmax %x {dim = 1 : i64} : tensor<2x3xf32> -> tensor<2x3xf32>
    ```
    becomes
    ```mlir
    %0 = tessera.reduce max, %x {dims = array<i64: 1>} : tensor<2x3xf32> -> tensor<2xf32>
    %1 = tessera.broadcast %0 {dims = array<i64: 0>} : tensor<2xf32> -> tensor<2x3xf32>
    %2 = tessera.sub %x, %1 : tensor<2x3xf32>
    %3 = tessera.exp %2 : tensor<2x3xf32>
    %4 = tessera.reduce sum, %3 {dims = array<i64: 1>} : tensor<2x3xf32> -> tensor<2xf32>
    %5 = tessera.log %4 : tensor<2xf32>
    %6 = tessera.broadcast %5 {dims = array<i64: 0>} : tensor<2xf32> -> tensor<2x3xf32>
    %y = tessera.sub %2, %6 : tensor<2x3xf32>
    ```
  }];
  let dependentDialects = ["::tessera::ir::TesseraDialect"];
}

def LocateConstantsPass : Pass<"tessera-locate-constants"> {
  let summary = "Gives constants without a place that of their first user";
  let description = [{
    Folding merges equal constants of several lines and leaves their location unknown; an error or a profile that comes
    to one must still show a line of the user. Every op whose location is unknown gets that of its first user.

    ```mlir
    %0 = tessera.constant 2.000000e+00 : f32 : tensor<3xf32> loc(unknown)
    %1 = tessera.mul %x, %0 : tensor<3xf32> loc("train.cpp":12:9)
    ```
    becomes
    ```mlir
    %0 = tessera.constant 2.000000e+00 : f32 : tensor<3xf32> loc("train.cpp":12:9)
    %1 = tessera.mul %x, %0 : tensor<3xf32> loc("train.cpp":12:9)
    ```
  }];
}

def AutodiffPass : Pass<"tessera-autodiff", "::mlir::ModuleOp"> {
  let summary = "Adds derivatives of functions to a module";
  let description = [{
    Every public function NAME gets a twin. In reverse mode it is `NAME_grad`: it takes NAME's arguments and one
    cotangent for each result that is a float, and returns NAME's results, then the cotangents of the arguments in
    `grad-of`. A function whose only float result is a scalar takes no cotangent: it is one. In forward mode the twin
    is `NAME_jvp`: it takes NAME's arguments, then the tangents of those in `grad-of`, and returns NAME's results, then
    the tangents of its float results. An empty `grad-of` is all float arguments. Derivatives that are zero are
    constants of zero.

    `mode=grad grad-of=0` turns
    ```mlir
    func.func @f(%x: tensor<3xf32>) -> tensor<f32> {
      %0 = tessera.mul %x, %x : tensor<3xf32>
      %1 = tessera.reduce sum, %0 {dims = array<i64: 0>} : tensor<3xf32> -> tensor<f32>
      return %1 : tensor<f32>
    }
    ```
    into itself and
    ```mlir
    func.func @f_grad(%x: tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
      %0 = tessera.mul %x, %x : tensor<3xf32>
      %1 = tessera.reduce sum, %0 {dims = array<i64: 0>} : tensor<3xf32> -> tensor<f32>
      %2 = tessera.constant 1.000000e+00 : f32 : tensor<f32>
      %3 = tessera.broadcast %2 {dims = array<i64>} : tensor<f32> -> tensor<3xf32>
      %4 = tessera.mul %3, %x : tensor<3xf32>
      %5 = tessera.mul %3, %x : tensor<3xf32>
      %6 = tessera.add %5, %4 : tensor<3xf32>
      return %1, %6 : tensor<f32>, tensor<3xf32>
    }
    ```
  }];
  let options = [
    Option<"mode", "mode", "::tessera::ir::AutodiffMode", "::tessera::ir::AutodiffMode::grad",
           "Reverse or forward mode", [{::llvm::cl::values(
             clEnumValN(::tessera::ir::AutodiffMode::grad, "grad", "cotangents of arguments (reverse mode)"),
             clEnumValN(::tessera::ir::AutodiffMode::jvp, "jvp", "tangents of results (forward mode)"))}]>,
    ListOption<"gradOf", "grad-of", "int64_t", "Numbers of the arguments to differentiate by; all floats if empty">];
  let dependentDialects = ["::tessera::ir::TesseraDialect"];
}

#endif
