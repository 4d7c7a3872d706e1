// What the lowering refuses, and what its messages say.
#include "Harness.h"
#include "gtest/gtest.h"

using namespace tessera::test;

namespace {

void expectError(const std::string &body, const std::string &message,
                 const std::string &globals = "") {
  Compiled compiled =
      compile(globals +
              "llvm.func @k(%p: !llvm.ptr<3>, %x: f32) attributes "
              "{nvvm.kernel} {\n" +
              body + "  llvm.return\n}\n");
  EXPECT_FALSE(compiled.kernel);
  EXPECT_NE(compiled.error.find(message), std::string::npos) << compiled.error;
}

TEST(LowerToSim, AnUnknownOpIsNamedWithItsPlace) {
  expectError("  nvvm.wgmma.fence.aligned\n",
              "k.mlir:2: 'nvvm.wgmma.fence.aligned' op is not known to the "
              "emulator");
  expectError("  %r = nvvm.read.ptx.sreg.clusterid.x : i32\n",
              "'nvvm.read.ptx.sreg.clusterid.x' op is not known");
}

TEST(LowerToSim, InlinePtxAndForeignFunctions) {
  expectError("  llvm.inline_asm \"bar.sync 0;\", \"\" : () -> ()\n",
              "is PTX, which the emulator cannot run");
  expectError("  %y = llvm.call @__nv_expf(%x) : (f32) -> f32\n",
              "calls @__nv_expf, which the emulator does not have",
              "llvm.func @__nv_expf(f32) -> f32\n");
}

TEST(LowerToSim, NarrowAddressesAndLargeLocals) {
  expectError("  %a = llvm.ptrtoint %p : !llvm.ptr<3> to i32\n",
              "less than 64 bits of an address in shared memory");
  expectError("  %n = llvm.mlir.constant(40000 : i32) : i32\n"
              "  %a = llvm.alloca %n x i8 : (i32) -> !llvm.ptr\n",
              "32768 bytes of local arrays");
}

TEST(LowerToSim, ATextThatDoesNotParse) {
  Compiled compiled = compile("llvm.func @k( {");
  EXPECT_NE(compiled.error.find("k.mlir:1:"), std::string::npos)
      << compiled.error;
}

} // namespace
