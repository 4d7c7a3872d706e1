// The function that a C program calls: it checks what it is given, finds the
// bytes of every buffer, and runs the code for this CPU.
#include "lowering/Aot/Api.h"
#include "lowering/Aot/CpuCheck.h"
#include "lowering/CodeGen/DimsBuilder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace tessera::lowering {

namespace {

constexpr int64_t kArenaAlignment = 64;

/// Writes the exported function of one program.
class ApiBuilder {
public:
  ApiBuilder(llvm::Module &module, const AotProgram &program,
             const AotOptions &options, ArrayRef<TargetCode> targets)
      : module(module), context(module.getContext()), program(program),
        options(options), targets(targets), b(context),
        pointer(PointerType::getUnqual(context)) {}

  Error addFunctions() {
    collectFields();
    bool isSymbolic = !program.symbols.empty();
    std::vector<Type *> parameters(isSymbolic ? 4 : 3, pointer);
    function = begin(options.name, b.getInt32Ty(), parameters);
    buffers = function->getArg(0);
    arena = function->arg_end() - 2;
    host = function->arg_end() - 1;
    dims = isSymbolic ? function->getArg(1)
                      : cast<Value>(ConstantPointerNull::get(pointer));
    sizes.emplace(b, dims);
    checkDims([&](Value *isWrong, CallError code, uint64_t symbol) {
      returnIf(isWrong, error(code, b.getInt32(uint32_t(symbol))));
    });
    checkFields();
    checkArena();
    Expected<llvm::Function *> choice = chooseCpu();
    if (!choice)
      return choice.takeError();
    callTarget(*choice);
    if (isSymbolic)
      addArenaBytes();
    else
      addGeneric();
    return Error::success();
  }

  void addDescription();

private:
  void collectFields() {
    for (auto [i, argument] : enumerate(program.interface.arguments)) {
      fieldOfArgument.push_back(program.embedded[i] ? -1
                                                    : int64_t(fields.size()));
      if (!program.embedded[i])
        fields.push_back(&argument);
    }
    for (const Port &result : program.interface.results) {
      fieldOfResult.push_back(result.partner >= 0
                                  ? fieldOfArgument[result.partner]
                                  : int64_t(fields.size()));
      if (result.partner < 0)
        fields.push_back(&result);
    }
  }

  /// A new function, at the beginning of which code is written from now on.
  Function *begin(const Twine &name, Type *result,
                  ArrayRef<Type *> parameters) {
    Function *made = Function::Create(
        FunctionType::get(result, parameters, /*isVarArg=*/false),
        GlobalValue::ExternalLinkage, name, module);
    b.SetInsertPoint(BasicBlock::Create(context, "", made));
    return made;
  }

  /// For programs of symbolic dimensions: the bytes of the arena, or -1 for
  /// sizes that do not fit.
  void addArenaBytes() {
    arenaBytes =
        begin(options.name + "_arena_bytes", b.getInt64Ty(), {pointer});
    sizes.emplace(b, arenaBytes->getArg(0));
    dims = arenaBytes->getArg(0);
    checkDims([&](Value *isWrong, CallError, uint64_t) {
      returnIf(isWrong, b.getInt64(uint64_t(-1)));
    });
    Value *most = b.getInt64(0);
    for (const TargetCode &code : targets) {
      Value *bytes = planBytes(code);
      forEachScratch(code, [&](const Port &result) {
        bytes = b.CreateAdd(alignUp(bytes), bytesOf(result));
      });
      most = larger(most, bytes);
    }
    b.CreateRet(most);
  }

  /// For programs without: the function as code takes it that serves any
  /// program.
  void addGeneric() {
    Function *call = function;
    generic = begin(options.name + "_run", b.getInt32Ty(),
                    {pointer, pointer, pointer, pointer});
    generic->setLinkage(GlobalValue::InternalLinkage);
    CallInst *result = b.CreateCall(
        call, {generic->getArg(0), generic->getArg(2), generic->getArg(3)});
    result->setTailCallKind(CallInst::TCK_Tail);
    b.CreateRet(result);
  }

  //===-- Sizes --===//

  Value *larger(Value *a, Value *c) {
    return b.CreateSelect(b.CreateICmpSGT(c, a), c, a);
  }

  Value *alignUp(Value *bytes) {
    return b.CreateAnd(b.CreateAdd(bytes, b.getInt64(kArenaAlignment - 1)),
                       b.getInt64(uint64_t(-kArenaAlignment)));
  }

  Value *bytesOf(const Port &port) {
    Value *unit = b.getInt64(uint64_t(port.bytes()));
    return port.symbolic ? b.CreateMul(extentOf(*port.symbolic), unit) : unit;
  }

  Value *extentOf(const runtime::SymbolicDim &dim) {
    return sizes->at({dim.constant, {{dim.symbol, 1, dim.coefficient, 0, 1}}});
  }

  /// What the plan itself needs of the arena.
  Value *planBytes(const TargetCode &code) {
    Value *most = b.getInt64(0);
    for (const runtime::SizeFormula &workspace : code.plan.workspaces)
      most = larger(most, sizes->at(workspace));
    return b.CreateAdd(sizes->sum(code.plan.arenaBytes, code.plan.arenaPer),
                       most);
  }

  /// The results that update an argument, but are not computed in its place.
  template <typename Visit>
  void forEachScratch(const TargetCode &code, Visit visit) {
    for (auto [i, result] : enumerate(program.interface.results))
      if (result.partner >= 0 && code.plan.aliases[i] != result.partner)
        visit(result);
  }

  /// Whether a call needs memory for what lies between kernels.
  bool hasArena() {
    return program.arenaBytes > 0 || any_of(targets, [&](const TargetCode &c) {
             bool any = c.plan.arenaBytes > 0 || !c.plan.arenaPer.empty() ||
                        !c.plan.workspaces.empty();
             forEachScratch(c, [&](const Port &) { any = true; });
             return any;
           });
  }

  //===-- Checks --===//

  /// `fail` is given what is wrong, and the number of the symbol.
  template <typename Fail> void checkDims(Fail fail) {
    if (program.symbols.empty())
      return;
    fail(b.CreateIsNull(dims), CallError::nullDims, 0);
    for (auto [s, symbol] : enumerate(program.symbols)) {
      Value *size = sizes->symbol(int64_t(s));
      // Less than `least` is more than any size, as an unsigned number.
      Value *above = b.CreateSub(size, b.getInt64(uint64_t(symbol.least)));
      fail(
          b.CreateICmpUGT(above, b.getInt64(uint64_t(std::max(
                                     symbol.most - symbol.least, int64_t(0))))),
          CallError::size, s);
    }
  }

  Value *error(CallError code, Value *field = nullptr) {
    Value *low = b.getInt32(static_cast<uint32_t>(code));
    return field ? b.CreateOr(b.CreateShl(field, 8), low) : low;
  }

  BasicBlock *newBlock() {
    return BasicBlock::Create(context, "", b.GetInsertBlock()->getParent());
  }

  /// Leaves with the value if `isWrong`, else goes on.
  void returnIf(Value *isWrong, Value *value) {
    BasicBlock *wrong = newBlock(), *right = newBlock();
    b.CreateCondBr(isWrong, wrong, right);
    b.SetInsertPoint(wrong);
    b.CreateRet(value);
    b.SetInsertPoint(right);
  }
  void returnIf(Value *isWrong, CallError code, Value *field = nullptr) {
    returnIf(isWrong, error(code, field));
  }

  /// Bits of an address that must be clear.
  Value *bits(Value *address, Value *mask) {
    return b.CreateAnd(b.CreatePtrToInt(address, b.getInt64Ty()), mask);
  }

  /// A loop over a table of alignments; 0 stands for an empty tensor, of which
  /// nothing is asked. A symbolic one may be empty.
  void checkFields() {
    if (fields.empty())
      return;
    SmallVector<uint8_t> alignments;
    for (const Port *field : fields)
      alignments.push_back(field->bytes() > 0 && !field->symbolic
                               ? uint8_t(field->elementBytes())
                               : 0);
    for (auto [i, field] : enumerate(fields)) {
      if (!field->symbolic || field->bytes() == 0)
        continue;
      Value *address = fieldAt(int64_t(i)), *number = b.getInt32(unsigned(i));
      Value *isEmpty =
          b.CreateICmpEQ(extentOf(*field->symbolic), b.getInt64(0));
      returnIf(b.CreateAnd(b.CreateIsNull(address), b.CreateNot(isEmpty)),
               CallError::nullField, number);
      returnIf(b.CreateIsNotNull(bits(
                   address, b.getInt64(uint64_t(field->elementBytes() - 1)))),
               CallError::misalignedField, number);
    }
    if (all_of(alignments, [](uint8_t alignment) { return alignment == 0; }))
      return;
    GlobalVariable *table = constant(
        ConstantDataArray::get(context, ArrayRef<uint8_t>(alignments)));
    BasicBlock *before = b.GetInsertBlock();
    auto *loop = BasicBlock::Create(context, "", function);
    b.CreateBr(loop);
    b.SetInsertPoint(loop);
    PHINode *i = b.CreatePHI(b.getInt32Ty(), 2);
    i->addIncoming(b.getInt32(0), before);
    Value *alignment =
        b.CreateZExt(b.CreateLoad(b.getInt8Ty(),
                                  b.CreateGEP(b.getInt8Ty(), table,
                                              b.CreateZExt(i, b.getInt64Ty()))),
                     b.getInt64Ty());
    Value *field =
        b.CreateLoad(pointer, b.CreateGEP(pointer, buffers,
                                          b.CreateZExt(i, b.getInt64Ty())));
    Value *holds = b.CreateICmpNE(alignment, b.getInt64(0));
    returnIf(b.CreateAnd(holds, b.CreateIsNull(field)), CallError::nullField,
             i);
    Value *mask = b.CreateSub(alignment, b.CreateZExt(holds, b.getInt64Ty()));
    returnIf(b.CreateIsNotNull(bits(field, mask)), CallError::misalignedField,
             i);
    Value *next = b.CreateAdd(i, b.getInt32(1));
    i->addIncoming(next, b.GetInsertBlock());
    auto *after = BasicBlock::Create(context, "", function);
    b.CreateCondBr(b.CreateICmpEQ(next, b.getInt32(fields.size())), after,
                   loop);
    b.SetInsertPoint(after);
  }

  void checkArena() {
    if (!hasArena())
      return;
    returnIf(b.CreateIsNull(arena), CallError::nullArena);
    returnIf(b.CreateIsNotNull(bits(arena, b.getInt64(kArenaAlignment - 1))),
             CallError::misalignedArena);
  }

  /// The number of the target, or null where there is no choice.
  Expected<llvm::Function *> chooseCpu() {
    SmallVector<TargetInfo> infos;
    for (const TargetCode &code : targets)
      infos.push_back(code.target);
    return addCpuChoice(module, infos);
  }

  void callTarget(llvm::Function *choice) {
    if (!choice)
      return runPlan(targets.front());
    Value *number = b.CreateCall(choice);
    returnIf(b.CreateICmpSLT(number, b.getInt32(0)), CallError::cpu);
    for (const TargetCode &code : targets.drop_back()) {
      auto *mine = BasicBlock::Create(context, "", function);
      auto *next = BasicBlock::Create(context, "", function);
      b.CreateCondBr(b.CreateICmpEQ(number, b.getInt32(&code - targets.data())),
                     mine, next);
      b.SetInsertPoint(mine);
      runPlan(code);
      b.SetInsertPoint(next);
    }
    runPlan(targets.back());
  }

  Value *fieldAt(int64_t index) {
    return b.CreateLoad(
        pointer, b.CreateConstGEP1_64(pointer, buffers, uint64_t(index)));
  }

  /// Fills the array of buffers, calls the plan's entry, and returns. A result
  /// that updates an argument, but is not computed in its place, is computed in
  /// the arena and copied; a result that takes the bytes of another argument
  /// gets a copy of them first.
  void runPlan(const TargetCode &code) {
    size_t arguments = program.interface.arguments.size();
    size_t count = arguments + program.interface.results.size();
    SmallVector<Value *> pointers;
    for (size_t i = 0; i < arguments; ++i)
      pointers.push_back(fieldOfArgument[i] < 0 ? embedded(i)
                                                : fieldAt(fieldOfArgument[i]));
    SmallVector<std::pair<Value *, size_t>> copies;
    Value *scratch = nullptr;
    for (auto [i, result] : enumerate(program.interface.results)) {
      Value *field = fieldAt(fieldOfResult[i]);
      int64_t alias = code.plan.aliases[i];
      if (result.partner >= 0 && alias != result.partner) {
        scratch = alignUp(scratch ? scratch : planBytes(code));
        field = b.CreateGEP(b.getInt8Ty(), arena, scratch);
        scratch = b.CreateAdd(scratch, bytesOf(result));
        copies.push_back({field, i});
      } else if (alias >= 0 && result.partner < 0) {
        b.CreateMemMove(field, MaybeAlign(), pointers[size_t(alias)],
                        MaybeAlign(), bytesOf(result));
        pointers[size_t(alias)] = field;
      }
      pointers.push_back(field);
    }
    Value *array = allocaAtEntry(count);
    for (auto [i, buffer] : enumerate(pointers))
      b.CreateStore(buffer, b.CreateConstGEP1_64(pointer, array, i));
    Value *null = ConstantPointerNull::get(pointer);
    Value *status = b.CreateCall(module.getFunction(code.entry),
                                 {host, array, dims, arena, null});
    for (auto [from, i] : copies)
      b.CreateMemCpy(fieldAt(fieldOfResult[i]), MaybeAlign(), from,
                     MaybeAlign(), bytesOf(program.interface.results[i]));
    b.CreateRet(status);
  }

  Value *allocaAtEntry(size_t count) {
    BasicBlock &entry = function->getEntryBlock();
    IRBuilder<> at(&entry, entry.begin());
    return at.CreateAlloca(ArrayType::get(pointer, std::max<size_t>(count, 1)));
  }

  /// The bytes of an argument that is part of the object.
  Value *embedded(size_t argument) {
    const Port &port = program.interface.arguments[argument];
    auto [it, isNew] = weights.try_emplace(argument);
    if (isNew) {
      StringRef bytes = options.weights.lookup(port.name).bytes;
      it->second = constant(
          ConstantDataArray::getString(context, bytes, /*AddNull=*/false));
      it->second->setAlignment(Align(kArenaAlignment));
      it->second->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    }
    return it->second;
  }

  GlobalVariable *constant(Constant *value, const Twine &name = "") {
    return new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                              GlobalValue::PrivateLinkage, value, name);
  }

  Constant *text(StringRef value) {
    return constant(ConstantDataArray::getString(context, value));
  }

  llvm::Module &module;
  LLVMContext &context;
  const AotProgram &program;
  const AotOptions &options;
  ArrayRef<TargetCode> targets;
  IRBuilder<> b;
  PointerType *pointer;
  /// The program's function, the one of the description if it is another, and
  /// the one that counts the arena's bytes.
  Function *function = nullptr, *generic = nullptr, *arenaBytes = nullptr;
  Value *buffers = nullptr, *dims = nullptr, *arena = nullptr, *host = nullptr;
  std::optional<DimsBuilder> sizes;
  /// Of the caller's struct, in order.
  SmallVector<const Port *> fields;
  SmallVector<int64_t> fieldOfArgument, fieldOfResult;
  DenseMap<size_t, GlobalVariable *> weights;
};

/// struct tessera_program of the header, with its tensors, one for each field,
/// and its symbols.
void ApiBuilder::addDescription() {
  Type *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty();
  auto number = [&](int64_t value) {
    return ConstantInt::getSigned(i64, value);
  };
  auto tableOf = [&](StructType *type,
                     ArrayRef<Constant *> rows) -> Constant * {
    if (rows.empty())
      return ConstantPointerNull::get(pointer);
    return constant(
        ConstantArray::get(ArrayType::get(type, rows.size()), rows));
  };
  StructType *tensorType = StructType::get(pointer, pointer, i64, i32, i32,
                                           pointer, i64, i64, i64, i64);
  SmallVector<Constant *> tensors, symbols;
  for (const Port *field : fields) {
    SmallVector<uint64_t> shape;
    for (int64_t size : field->type.getShape())
      shape.push_back(uint64_t(mlir::ShapedType::isDynamic(size) ? -1 : size));
    bool isArgument = field >= program.interface.arguments.data() &&
                      field < program.interface.arguments.data() +
                                  program.interface.arguments.size();
    // 1: read, 2: written, 4: in the weights file at first.
    uint32_t use = isArgument ? 1 : 2;
    if (isArgument && field->partner >= 0)
      use |= 2;
    if (field->isWeight)
      use |= 4;
    runtime::SymbolicDim dim =
        field->symbolic.value_or(runtime::SymbolicDim{-1, -1, 0, 0});
    tensors.push_back(ConstantStruct::get(
        tensorType,
        {text(field->name), text(dtypeName(field->type.getElementType())),
         number(field->bytes()), b.getInt32(uint32_t(shape.size())),
         b.getInt32(use),
         constant(ConstantDataArray::get(context, ArrayRef<uint64_t>(shape))),
         number(dim.dim), number(dim.symbol), number(dim.coefficient),
         number(dim.constant)}));
  }
  StructType *symbolType = StructType::get(pointer, i64, i64, pointer);
  for (const runtime::SymbolInfo &symbol : program.symbols)
    symbols.push_back(ConstantStruct::get(
        symbolType, {text(symbol.name), number(symbol.least),
                     number(symbol.most), text(symbol.rangeText())}));
  auto *null = ConstantPointerNull::get(pointer);
  StructType *programType = StructType::get(
      pointer, pointer, i64, i64, i64, pointer, i64, pointer, pointer, pointer);
  Constant *description = ConstantStruct::get(
      programType,
      {text(options.name), text(program.hash),
       number(symbols.empty() ? program.arenaBytes : -1),
       number(kArenaAlignment), number(int64_t(tensors.size())),
       tableOf(tensorType, tensors), number(int64_t(symbols.size())),
       tableOf(symbolType, symbols),
       arenaBytes ? cast<Constant>(arenaBytes) : null,
       generic ? generic : function});
  new GlobalVariable(module, programType, /*isConstant=*/true,
                     GlobalValue::ExternalLinkage, description,
                     options.name + "_program");
}

} // namespace

Error addApi(llvm::Module &module, const AotProgram &program,
             const AotOptions &options, ArrayRef<TargetCode> targets) {
  ApiBuilder builder(module, program, options, targets);
  if (Error error = builder.addFunctions())
    return error;
  builder.addDescription();
  return Error::success();
}

} // namespace tessera::lowering
