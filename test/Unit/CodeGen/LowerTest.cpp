// Kernel modules to LLVM IR, assembly and objects on several targets, and what
// is refused.
#include "Compile.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

using namespace tessera;
using namespace tessera::lowering;
using namespace tessera::test;

namespace {

std::string assembly(mlir::ModuleOp module, const char *cpu) {
  TargetInfo target = llvm::cantFail(targetFor(cpu));
  auto ir = toIR(module, target);
  EXPECT_TRUE(bool(ir));
  return llvm::cantFail(emitAssembly(llvm::cantFail(std::move(ir)), target));
}

bool has(llvm::StringRef text, llvm::StringRef part) {
  return text.contains(part);
}

std::string errorOf(const std::string &text, const char *cpu) {
  auto context = kernelContext();
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(context.get(),
                                        [&](mlir::Diagnostic &d) {
                                          diagnostics += d.str();
                                          return mlir::success();
                                        });
  auto object =
      toObject(*parseKernel(*context, text), llvm::cantFail(targetFor(cpu)));
  EXPECT_FALSE(bool(object));
  return diagnostics + llvm::toString(object.takeError());
}

TEST(Lower, VectorWidthFollowsTheTarget) {
  auto context = kernelContext();
  EXPECT_TRUE(
      has(assembly(*addKernel(*context, 1000, 4, 4), "x86-64"), "addps"));
  EXPECT_TRUE(
      has(assembly(*addKernel(*context, 1000, 4, 8), "x86-64-v3"), "%ymm"));
  EXPECT_TRUE(
      has(assembly(*addKernel(*context, 1000, 4, 16), "x86-64-v4"), "%zmm"));
}

TEST(Lower, WrapperHoldsTheBodyAndKnowsWhatDoesNotAlias) {
  auto context = kernelContext();
  auto ir = llvm::cantFail(toIR(*addKernel(*context, 1000, 4, 8),
                                llvm::cantFail(targetFor("x86-64-v3"))));
  std::string text = printIR(ir);
  EXPECT_EQ(llvm::StringRef(text).count("define "), 1u);
  EXPECT_TRUE(has(text, "define void @add(ptr"));
  EXPECT_TRUE(has(text, "!alias.scope"));
  auto again = parseIR(text);
  ASSERT_TRUE(bool(again));
  EXPECT_TRUE(again->module->getFunction("add"));
}

constexpr const char *kFMA = R"(
func.func @f(%x: memref<8xf32>, %out: memref<8xf32>, %begin: index, %end: index)
    attributes {tessera.launch = 1 : i64} {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  %w = vector.fma %v, %v, %v : vector<8xf32>
  %p = arith.mulf %v, %w : vector<8xf32>
  %q = arith.addf %p, %w : vector<8xf32>
  vector.store %q, %out[%c0] : memref<8xf32>, vector<8xf32>
  return
})";

TEST(Lower, OneFMAWhereWrittenAndNoContraction) {
  auto context = kernelContext();
  std::string text = assembly(*parseKernel(*context, kFMA), "x86-64-v3");
  EXPECT_EQ(llvm::StringRef(text).count("vfmadd"), 1u);
  EXPECT_EQ(llvm::StringRef(text).count("vmulps"), 1u);
  EXPECT_EQ(llvm::StringRef(text).count("vaddps"), 1u);
  text = assembly(*parseKernel(*context, kFMA), "x86-64");
  EXPECT_FALSE(has(text, "call\tfma"));
}

TEST(Lower, CallsOfLibmAreRefusedByName) {
  std::string text = errorOf(R"(
func.func @f(%x: memref<f32>, %begin: index, %end: index) attributes {tessera.launch = 1 : i64} {
  %v = memref.load %x[] : memref<f32>
  %w = arith.remf %v, %v : f32
  memref.store %w, %x[] : memref<f32>
  return
})",
                             "x86-64-v3");
  EXPECT_TRUE(has(text, "internal error: generated code calls fmodf")) << text;
}

TEST(Lower, UnselectableInstructionIsAnError) {
  std::string text = errorOf(R"(
func.func @f(%x: memref<64xi8>, %out: memref<16xi32>, %begin: index, %end: index)
    attributes {tessera.launch = 1 : i64} {
  %c0 = arith.constant 0 : index
  %a = vector.load %x[%c0] : memref<64xi8>, vector<64xi8>
  %b = vector.bitcast %a : vector<64xi8> to vector<16xi32>
  %s = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%b, %a, %a)
      : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
  vector.store %s, %out[%c0] : memref<16xi32>, vector<16xi32>
  return
})",
                             "x86-64-v3");
  EXPECT_TRUE(has(text, "internal error: LLVM: ")) << text;
}

constexpr const char *kDot = R"(
func.func @f(%x: memref<32xbf16>, %out: memref<16xf32>, %begin: index, %end: index)
    attributes {tessera.launch = 1 : i64} {
  %c0 = arith.constant 0 : index
  %a = vector.load %x[%c0] : memref<32xbf16>, vector<32xbf16>
  %b = vector.load %out[%c0] : memref<16xf32>, vector<16xf32>
  %s = x86vector.avx512.dot %b, %a, %a : vector<32xbf16> -> vector<16xf32>
  vector.store %s, %out[%c0] : memref<16xf32>, vector<16xf32>
  return
})";

TEST(Lower, DotOfTheTarget) {
  auto context = kernelContext();
  EXPECT_TRUE(has(assembly(*parseKernel(*context, kDot), "sapphirerapids"),
                  "vdpbf16ps"));
  EXPECT_TRUE(has(errorOf(kDot, "x86-64-v4"), "internal error: LLVM: "));
}

TEST(Lower, HelpersTakeMemRefs) {
  auto context = kernelContext();
  std::string text = assembly(*parseKernel(*context, R"(
func.func private @half(%x: memref<8xf32>, %i: index) -> f32 attributes {llvm.no_inline} {
  %v = memref.load %x[%i] : memref<8xf32>
  %h = arith.constant 0.5 : f32
  %w = arith.mulf %v, %h : f32
  return %w : f32
}
func.func @f(%x: memref<8xf32>, %out: memref<f32>, %begin: index, %end: index) attributes {tessera.launch = 1 : i64} {
  %a = func.call @half(%x, %begin) : (memref<8xf32>, index) -> f32
  %b = func.call @half(%x, %end) : (memref<8xf32>, index) -> f32
  %c = arith.addf %a, %b : f32
  memref.store %c, %out[] : memref<f32>
  return
})"),
                              "x86-64-v3");
  EXPECT_TRUE(has(text, "half"));
  EXPECT_FALSE(has(text, ".globl\thalf"));
}

TEST(Lower, LaunchOfWrongFormIsADiagnostic) {
  EXPECT_TRUE(has(errorOf("func.func @f(%x: memref<?xf32>) attributes "
                          "{tessera.launch = 1 : i64} { return }",
                          "x86-64"),
                  "a launch takes memrefs of static shape"));
}

TEST(Lower, CompoundVectorOps) {
  auto context = kernelContext();
  std::string text = assembly(*parseKernel(*context, R"(
func.func @f(%x: memref<16x16xf32>, %out: memref<16x16xf32>, %begin: index, %end: index)
    attributes {tessera.launch = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %s = memref.subview %x[%c2, %c2] [8, 8] [1, 1]
      : memref<16x16xf32> to memref<8x8xf32, strided<[16, 1], offset: ?>>
  %v = vector.transfer_read %s[%c0, %c0], %zero {in_bounds = [true, true]}
      : memref<8x8xf32, strided<[16, 1], offset: ?>>, vector<8x8xf32>
  %t = vector.transpose %v, [1, 0] : vector<8x8xf32> to vector<8x8xf32>
  vector.transfer_write %t, %out[%c0, %c0] : vector<8x8xf32>, memref<16x16xf32>
  return
})"),
                              "x86-64-v3");
  EXPECT_TRUE(has(text, "vunpcklps"));
}

} // namespace
