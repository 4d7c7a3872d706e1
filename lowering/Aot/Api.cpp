// The function that a C program calls: it checks what it is given, finds the
// bytes of every buffer, and runs the code for this CPU.
#include "lowering/Aot/Api.h"
#include "lowering/Aot/CpuCheck.h"
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

  Error addFunction() {
    auto *type = FunctionType::get(b.getInt32Ty(), {pointer, pointer, pointer},
                                   /*isVarArg=*/false);
    function = Function::Create(type, GlobalValue::ExternalLinkage,
                                options.name, module);
    b.SetInsertPoint(BasicBlock::Create(context, "", function));
    collectFields();
    checkFields();
    checkArena();
    Expected<llvm::Function *> choice = chooseCpu();
    if (!choice)
      return choice.takeError();
    callTarget(*choice);
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

  Value *error(CallError code, Value *field = nullptr) {
    Value *low = b.getInt32(static_cast<uint32_t>(code));
    return field ? b.CreateOr(b.CreateShl(field, 8), low) : low;
  }

  /// Leaves with the error if `isWrong`, else goes on.
  void returnIf(Value *isWrong, CallError code, Value *field = nullptr) {
    auto *wrong = BasicBlock::Create(context, "", function);
    auto *right = BasicBlock::Create(context, "", function);
    b.CreateCondBr(isWrong, wrong, right);
    b.SetInsertPoint(wrong);
    b.CreateRet(error(code, field));
    b.SetInsertPoint(right);
  }

  /// Bits of an address that must be clear.
  Value *bits(Value *address, Value *mask) {
    return b.CreateAnd(b.CreatePtrToInt(address, b.getInt64Ty()), mask);
  }

  /// A loop over a table of alignments; 0 stands for an empty tensor, of which
  /// nothing is asked.
  void checkFields() {
    if (fields.empty())
      return;
    SmallVector<uint8_t> alignments;
    for (const Port *field : fields)
      alignments.push_back(field->bytes() > 0 ? uint8_t(field->elementBytes())
                                              : 0);
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
        b.CreateLoad(pointer, b.CreateGEP(pointer, function->getArg(0),
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
    if (program.arenaBytes == 0)
      return;
    Value *arena = function->getArg(1);
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
        pointer, b.CreateConstGEP1_64(pointer, function->getArg(0), index));
  }

  /// Fills the array of buffers, calls the plan's entry, and returns. A result
  /// that updates an argument, but is not computed in its place, is computed in
  /// the arena and copied; a result that takes the bytes of another argument
  /// gets a copy of them first.
  void runPlan(const TargetCode &code) {
    size_t arguments = program.interface.arguments.size();
    size_t count = arguments + program.interface.results.size();
    SmallVector<Value *> buffers;
    for (size_t i = 0; i < arguments; ++i)
      buffers.push_back(fieldOfArgument[i] < 0 ? embedded(i)
                                               : fieldAt(fieldOfArgument[i]));
    SmallVector<std::pair<Value *, size_t>> copies;
    int64_t scratch = code.plan.arenaBytes;
    for (auto [i, result] : enumerate(program.interface.results)) {
      Value *field = fieldAt(fieldOfResult[i]);
      int64_t alias = code.plan.aliases[i];
      if (result.partner >= 0 && alias != result.partner) {
        scratch = alignTo(scratch, kArenaAlignment);
        field =
            b.CreateConstGEP1_64(b.getInt8Ty(), function->getArg(1), scratch);
        scratch += result.bytes();
        copies.push_back({field, i});
      } else if (alias >= 0 && result.partner < 0) {
        b.CreateMemMove(field, MaybeAlign(), buffers[alias], MaybeAlign(),
                        result.bytes());
        buffers[alias] = field;
      }
      buffers.push_back(field);
    }
    Value *array = allocaAtEntry(count);
    for (auto [i, buffer] : enumerate(buffers))
      b.CreateStore(buffer, b.CreateConstGEP1_64(pointer, array, i));
    Value *null = ConstantPointerNull::get(pointer);
    Value *status = b.CreateCall(
        module.getFunction(code.entry),
        {function->getArg(2), array, null, function->getArg(1), null});
    for (auto [from, i] : copies)
      b.CreateMemCpy(fieldAt(fieldOfResult[i]), MaybeAlign(), from,
                     MaybeAlign(), program.interface.results[i].bytes());
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
  Function *function = nullptr;
  /// Of the caller's struct, in order.
  SmallVector<const Port *> fields;
  SmallVector<int64_t> fieldOfArgument, fieldOfResult;
  DenseMap<size_t, GlobalVariable *> weights;
};

/// struct tessera_program of the header, with its tensors: one for each field.
void ApiBuilder::addDescription() {
  Type *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty();
  StructType *tensorType =
      StructType::get(pointer, pointer, i64, i32, i32, pointer);
  SmallVector<Constant *> tensors;
  for (const Port *field : fields) {
    ArrayRef<int64_t> shape = field->type.getShape();
    SmallVector<uint64_t> sizes(shape.begin(), shape.end());
    bool isArgument = field >= program.interface.arguments.data() &&
                      field < program.interface.arguments.data() +
                                  program.interface.arguments.size();
    // 1: read, 2: written, 4: in the weights file at first.
    uint32_t use = isArgument ? 1 : 2;
    if (isArgument && field->partner >= 0)
      use |= 2;
    if (field->isWeight)
      use |= 4;
    tensors.push_back(ConstantStruct::get(
        tensorType,
        {text(field->name), text(dtypeName(field->type.getElementType())),
         b.getInt64(uint64_t(field->bytes())), b.getInt32(sizes.size()),
         b.getInt32(use),
         constant(
             ConstantDataArray::get(context, ArrayRef<uint64_t>(sizes)))}));
  }
  Constant *table = constant(
      ConstantArray::get(ArrayType::get(tensorType, tensors.size()), tensors));
  StructType *programType =
      StructType::get(pointer, pointer, i64, i64, i64, pointer, pointer);
  Constant *description = ConstantStruct::get(
      programType,
      {text(options.name), text(program.hash),
       b.getInt64(uint64_t(program.arenaBytes)), b.getInt64(kArenaAlignment),
       b.getInt64(tensors.size()), table, function});
  new GlobalVariable(module, programType, /*isConstant=*/true,
                     GlobalValue::ExternalLinkage, description,
                     options.name + "_program");
}

} // namespace

Error addApi(llvm::Module &module, const AotProgram &program,
             const AotOptions &options, ArrayRef<TargetCode> targets) {
  ApiBuilder builder(module, program, options, targets);
  if (Error error = builder.addFunction())
    return error;
  builder.addDescription();
  return Error::success();
}

} // namespace tessera::lowering
