// The kernel modules of the tests.
#include "KernelModules.h"
#include "lowering/CodeGen/LowerToLLVM.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace tessera::test {

std::unique_ptr<MLIRContext> kernelContext() {
  DialectRegistry registry;
  lowering::registerCodeGenDialects(registry);
  return std::make_unique<MLIRContext>(registry,
                                       MLIRContext::Threading::DISABLED);
}

OwningOpRef<ModuleOp> parseKernel(MLIRContext &context,
                                  const std::string &text) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(&context));
  EXPECT_TRUE(module);
  return module;
}

namespace {

/// Starts a launch function with these buffer types and leaves `b` at its body,
/// before the return.
func::FuncOp startLaunch(OpBuilder &b, ModuleOp module, StringRef name,
                         ArrayRef<Type> buffers, int64_t tiles) {
  b.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types(buffers);
  types.append(2, b.getIndexType());
  auto func = func::FuncOp::create(b, b.getUnknownLoc(), name,
                                   b.getFunctionType(types, {}));
  func->setAttr("tessera.launch", b.getI64IntegerAttr(tiles));
  for (size_t i = 0; i < buffers.size(); ++i)
    func.setArgAttr(i, "llvm.noalias", b.getUnitAttr());
  Block *body = func.addEntryBlock();
  b.setInsertionPointToEnd(body);
  b.setInsertionPoint(func::ReturnOp::create(b, func.getLoc()));
  return func;
}

OwningOpRef<ModuleOp> emptyModule(MLIRContext &context) {
  context.loadDialect<func::FuncDialect, arith::ArithDialect, scf::SCFDialect,
                      memref::MemRefDialect, vector::VectorDialect>();
  return ModuleOp::create(UnknownLoc::get(&context));
}

} // namespace

OwningOpRef<ModuleOp> addKernel(MLIRContext &context, int64_t n, int64_t tiles,
                                int lanes) {
  OwningOpRef<ModuleOp> module = emptyModule(context);
  OpBuilder b(&context);
  Location loc = b.getUnknownLoc();
  auto buffer = MemRefType::get({n}, b.getF32Type());
  func::FuncOp func =
      startLaunch(b, *module, "add", {buffer, buffer, buffer}, tiles);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  int64_t tileSize = (n + tiles - 1) / tiles;
  Value size = constant(tileSize), limit = constant(n), step = constant(lanes),
        one = constant(1);
  Value first = arith::MulIOp::create(b, loc, func.getArgument(3), size);
  Value last = arith::MulIOp::create(b, loc, func.getArgument(4), size);
  last = arith::MinSIOp::create(b, loc, last, limit);
  Value count = arith::SubIOp::create(b, loc, last, first);
  Value tail = arith::RemSIOp::create(b, loc, count, step);
  Value full = arith::SubIOp::create(b, loc, last, tail);
  auto vectorType = VectorType::get({lanes}, b.getF32Type());
  scf::ForOp::create(
      b, loc, first, full, step, ValueRange{},
      [&](OpBuilder &b, Location loc, Value i, ValueRange) {
        Value x =
            vector::LoadOp::create(b, loc, vectorType, func.getArgument(0), i);
        Value y =
            vector::LoadOp::create(b, loc, vectorType, func.getArgument(1), i);
        vector::StoreOp::create(b, loc, arith::AddFOp::create(b, loc, x, y),
                                func.getArgument(2), i);
        scf::YieldOp::create(b, loc);
      });
  scf::ForOp::create(
      b, loc, full, last, one, ValueRange{},
      [&](OpBuilder &b, Location loc, Value i, ValueRange) {
        Value x = memref::LoadOp::create(b, loc, func.getArgument(0), i);
        Value y = memref::LoadOp::create(b, loc, func.getArgument(1), i);
        memref::StoreOp::create(b, loc, arith::AddFOp::create(b, loc, x, y),
                                func.getArgument(2), i);
        scf::YieldOp::create(b, loc);
      });
  return module;
}

OwningOpRef<ModuleOp> sumKernel(MLIRContext &context, int64_t n,
                                int64_t tiles) {
  std::string in = "memref<" + std::to_string(n) + "xf32>";
  std::string work = "memref<" + std::to_string(64 + tiles * 4) + "xi8>";
  std::string partials = "memref<" + std::to_string(tiles) + "xf32>";
  std::string types =
      in + " {llvm.noalias}, %out: memref<f32> {llvm.noalias}, %work: " + work +
      " {llvm.noalias}";
  std::string attributes =
      "tessera.workspace = " + std::to_string(64 + tiles * 4) + " : i64}";
  return parseKernel(context, R"(
func.func @partials(%in: )" + types +
                                  R"(, %begin: index, %end: index)
    attributes {tessera.launch = )" +
                                  std::to_string(tiles) + " : i64, " +
                                  attributes + R"( {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %size = arith.constant )" + std::to_string(n / tiles) +
                                  R"( : index
  %slots = memref.view %work[%c64][] : )" +
                                  work + " to " + partials + R"(
  scf.for %tile = %begin to %end step %c1 {
    %first = arith.muli %tile, %size : index
    %last = arith.addi %first, %size : index
    %sum = scf.for %i = %first to %last step %c1 iter_args(%acc = %zero) -> f32 {
      %x = memref.load %in[%i] : )" +
                                  in + R"(
      %next = arith.addf %acc, %x : f32
      scf.yield %next : f32
    }
    memref.store %sum, %slots[%tile] : )" +
                                  partials + R"(
  }
  return
}
func.func @combine(%in: )" + types +
                                  R"(, %begin: index, %end: index)
    attributes {tessera.launch = 1 : i64, )" +
                                  attributes + R"( {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %tiles = arith.constant )" + std::to_string(tiles) +
                                  R"( : index
  %slots = memref.view %work[%c64][] : )" +
                                  work + " to " + partials + R"(
  %sum = scf.for %i = %c0 to %tiles step %c1 iter_args(%acc = %zero) -> f32 {
    %x = memref.load %slots[%i] : )" +
                                  partials + R"(
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  memref.store %sum, %out[] : memref<f32>
  return
})");
}

OwningOpRef<ModuleOp> lessKernel(MLIRContext &context, int64_t n) {
  std::string f = "memref<" + std::to_string(n) + "xf32>",
              b = "memref<" + std::to_string(n) + "xi8>";
  return parseKernel(context,
                     R"(
func.func @less(%x: )" + f +
                         R"( {llvm.noalias}, %y: )" + f +
                         R"( {llvm.noalias}, %out: )" + b + R"( {llvm.noalias},
                %begin: index, %end: index) attributes {tessera.launch = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant )" +
                         std::to_string(n) + R"( : index
  scf.for %i = %c0 to %n step %c8 {
    %left = arith.subi %n, %i : index
    %mask = vector.create_mask %left : vector<8xi1>
    %zeros = arith.constant dense<0.0> : vector<8xf32>
    %a = vector.maskedload %x[%i], %mask, %zeros : )" +
                         f + R"(, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %b = vector.maskedload %y[%i], %mask, %zeros : )" +
                         f + R"(, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %less = arith.cmpf olt, %a, %b : vector<8xf32>
    %bytes = arith.extui %less : vector<8xi1> to vector<8xi8>
    vector.maskedstore %out[%i], %mask, %bytes : )" +
                         b + R"(, vector<8xi1>, vector<8xi8>
  }
  return
})");
}

} // namespace tessera::test
