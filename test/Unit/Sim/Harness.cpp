// Compilation of test kernels.
#include "Harness.h"
#include "lowering/GPU/Sim/Compile.h"

namespace tessera::test {

Compiled compile(const std::string &text, Reports reports) {
  lowering::SimOptions options;
  options.checks = reports == Reports::Checks || reports == Reports::Both;
  options.counters = reports == Reports::Counters || reports == Reports::Both;
  auto program = lowering::compileForSim(text, "k.mlir", options);
  Compiled compiled;
  if (!program) {
    compiled.error = llvm::toString(program.takeError());
    return compiled;
  }
  compiled.code = program->code;
  compiled.kernel = program->find("k");
  if (!compiled.kernel)
    compiled.error = "there is no kernel @k";
  return compiled;
}

std::string elementwise(const std::string &body, const std::string &globals) {
  return "module {\n" + globals + R"mlir(
llvm.func @k(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %pin = llvm.getelementptr %in[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %x = llvm.load %pin : !llvm.ptr<1> -> i32
)mlir" + body +
         R"mlir(
  %pout = llvm.getelementptr %out[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %y, %pout : i32, !llvm.ptr<1>
  llvm.return
}
}
)mlir";
}

} // namespace tessera::test
