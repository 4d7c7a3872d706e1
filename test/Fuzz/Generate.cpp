// Which op comes next in a random program.
#include "test/Fuzz/Generate.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/Fuzz/Makers.h"
#include "test/Numerics/driver/Coverage.h"
#include "test/Numerics/driver/Ops.h"

using namespace mlir;

namespace tessera::fuzz {

SmallVector<RegisteredOperationName> traceOps(MLIRContext &context) {
  SmallVector<RegisteredOperationName> ops;
  for (RegisteredOperationName op : numerics::registeredOps(context))
    if (numerics::hasValue(op) && !op.hasTrait<OpTrait::IsIsolatedFromAbove>())
      ops.push_back(op);
  return ops;
}

/// An op without attributes, whose operands and result have one type.
static Value addUniform(Program &p, OperationName name) {
  for (int attempt = 0; attempt < 6; ++attempt) {
    Value x = p.any();
    auto type = ir::tensorType(x);
    for (SmallVector<Value> operands{x}; operands.size() <= 2;
         operands.push_back(p.ofType(type)))
      if (Value y = p.add(name, type, operands))
        return y;
  }
  return {};
}

OwningOpRef<ModuleOp> generate(MLIRContext &context, uint64_t seed) {
  Program program(context, seed);
  auto ops = traceOps(context);
  SmallVector<OperationName> uniform;
  for (RegisteredOperationName op : ops)
    if (!makerOf(op))
      uniform.push_back(op);
  // Most programs are short, so that many of them can be run.
  bool isLong = program.chance(0.1);
  int64_t count = program.between(4, isLong ? 40 : 8);
  // Ops may be refused, so the number of attempts is bounded too.
  for (int64_t i = 0; i < 4 * count && program.opCount() < count; ++i) {
    if (program.chance(0.45))
      addUniform(program, program.choose(uniform));
    else
      program.choose(makers()).make(program);
  }
  bool gradient = program.chance(0.2);
  OwningOpRef<ModuleOp> module = program.finish();
  if (gradient)
    (*module->getOps<func::FuncOp>().begin())
        ->setAttr(kGradient, UnitAttr::get(&context));
  return module;
}

} // namespace tessera::fuzz
