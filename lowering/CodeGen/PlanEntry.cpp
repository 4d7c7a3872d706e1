// A plan as two constant tables, and one driver, common to all plans, that
// walks them. Straight code would make the compile time of a long program grow
// with its launches; a table of 500 launches costs a fraction of a millisecond.
#include "lowering/CodeGen/PlanEntry.h"
#include "lowering/CodeGen/DimsBuilder.h"
#include "lowering/CodeGen/Hash.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/IRBuilder.h"
#include <mutex>

using namespace llvm;

namespace tessera::lowering {

namespace {

constexpr StringRef kDriverName = "tessera_run_plan";

/// The driver. A reference is {index of a buffer, or -1 for the arena; offset};
/// the select makes both a load and an addition, with no branch to mispredict.
/// The floating-point environment is set to the standard one unless it is that
/// already, whatever its sticky flags say.
constexpr StringRef kDriver = R"(
%plan = type { i64, i64, ptr, ptr }
%launch = type { ptr, i64, i64 }
%reference = type { i64, i64 }

$environment

define void @tessera_run_plan(ptr %plan, ptr %host, ptr %buffers, ptr %arena) nounwind {
entry:
  %arena.slot = alloca ptr
  %saved = alloca i32
  %standard = alloca i32
  %longest.at = getelementptr %plan, ptr %plan, i64 0, i32 1
  %longest = load i64, ptr %longest.at
  %pointers = alloca ptr, i64 %longest
  store ptr %arena, ptr %arena.slot
  call void @get_environment(ptr %saved)
  %environment = load i32, ptr %saved
  %control = and i32 %environment, $mask
  %is.standard = icmp eq i32 %control, $standard
  br i1 %is.standard, label %ready, label %set
set:
  store i32 $standard, ptr %standard
  call void @set_environment(ptr %standard)
  br label %ready
ready:
  %count = load i64, ptr %plan
  %launches.at = getelementptr %plan, ptr %plan, i64 0, i32 2
  %launches = load ptr, ptr %launches.at
  %references.at = getelementptr %plan, ptr %plan, i64 0, i32 3
  %references = load ptr, ptr %references.at
  %launches.end = getelementptr %launch, ptr %launches, i64 %count
  %no.host = icmp eq ptr %host, null
  br i1 %no.host, label %check, label %threads
threads:
  %host.parallel = load ptr, ptr %host
  br label %check
check:
  %parallel.for = phi ptr [ null, %ready ], [ %host.parallel, %threads ]
  %serial.host = icmp eq ptr %parallel.for, null
  br label %head
head:
  %launch = phi ptr [ %launches, %check ], [ %launch.next, %next ]
  %first = phi ptr [ %references, %check ], [ %first.next, %next ]
  %finished = icmp eq ptr %launch, %launches.end
  br i1 %finished, label %done, label %begin
begin:
  %kernel = load ptr, ptr %launch
  %tiles.at = getelementptr %launch, ptr %launch, i64 0, i32 1
  %tiles = load i64, ptr %tiles.at
  %uses.at = getelementptr %launch, ptr %launch, i64 0, i32 2
  %uses = load i64, ptr %uses.at
  %first.next = getelementptr %reference, ptr %first, i64 %uses
  %no.uses = icmp eq i64 %uses, 0
  br i1 %no.uses, label %call, label %fill
fill:
  %k = phi i64 [ 0, %begin ], [ %k.next, %fill ]
  %reference = getelementptr %reference, ptr %first, i64 %k
  %index = load i64, ptr %reference
  %offset.at = getelementptr %reference, ptr %reference, i64 0, i32 1
  %offset = load i64, ptr %offset.at
  %in.arena = icmp slt i64 %index, 0
  %buffer.slot = getelementptr ptr, ptr %buffers, i64 %index
  %slot = select i1 %in.arena, ptr %arena.slot, ptr %buffer.slot
  %base = load ptr, ptr %slot
  %pointer = getelementptr i8, ptr %base, i64 %offset
  %pointer.at = getelementptr ptr, ptr %pointers, i64 %k
  store ptr %pointer, ptr %pointer.at
  %k.next = add i64 %k, 1
  %filled = icmp eq i64 %k.next, %uses
  br i1 %filled, label %call, label %fill
call:
  %one.tile = icmp sle i64 %tiles, 1
  %serial = or i1 %one.tile, %serial.host
  br i1 %serial, label %call.serial, label %call.parallel
call.serial:
  call void %kernel(ptr %pointers, i64 0, i64 %tiles)
  br label %next
call.parallel:
  call void %parallel.for(ptr %host, ptr %kernel, ptr %pointers, i64 %tiles)
  br label %next
next:
  %launch.next = getelementptr %launch, ptr %launch, i64 1
  br label %head
done:
  br i1 %is.standard, label %exit, label %restore
restore:
  call void @set_environment(ptr %saved)
  br label %exit
exit:
  ret void
}
)";

/// A reference's index for the driver: the dimensions follow the buffers.
int64_t indexOf(const BufferRef &ref, const Plan &plan) {
  switch (ref.kind) {
  case BufferRef::Arena:
    return -1;
  case BufferRef::Dims:
    return plan.numBuffers;
  case BufferRef::Buffer:
    return ref.index;
  }
  llvm_unreachable("unknown kind of reference");
}

/// How an architecture keeps its floating-point environment: what declares its
/// instructions, what reads it into a place and sets it from there (`$at`, the
/// name of the place), the bits that count, and what they are for round to
/// nearest, all exceptions masked, no flushing.
struct Environment {
  StringRef declarations, get, set, mask, standard;
};

/// MXCSR; its bits 0 to 5 are sticky flags.
constexpr Environment kMxcsr = {"declare void @llvm.x86.sse.stmxcsr(ptr)\n"
                                "declare void @llvm.x86.sse.ldmxcsr(ptr)\n",
                                "call void @llvm.x86.sse.stmxcsr(ptr %$at)",
                                "call void @llvm.x86.sse.ldmxcsr(ptr %$at)",
                                "65472", "8064"};

/// FPCR, which has no flags.
constexpr Environment kFpcr = {
    "declare i64 @llvm.aarch64.get.fpcr()\n"
    "declare void @llvm.aarch64.set.fpcr(i64)\n",
    "%$at.wide = call i64 @llvm.aarch64.get.fpcr()\n"
    "  %$at.word = trunc i64 %$at.wide to i32\n"
    "  store i32 %$at.word, ptr %$at",
    "%$at.again = load i32, ptr %$at\n"
    "  %$at.new = zext i32 %$at.again to i64\n"
    "  call void @llvm.aarch64.set.fpcr(i64 %$at.new)",
    "-1", "0"};

void replaceAll(std::string &text, StringRef token, StringRef value) {
  for (size_t at = 0; (at = text.find(token.str(), at)) != std::string::npos;
       at += value.size())
    text.replace(at, token.size(), value.str());
}

/// The driver's text for an architecture.
std::string driverFor(const TargetInfo &target) {
  const Environment &environment = target.isX86() ? kMxcsr : kFpcr;
  std::string text = kDriver.str();
  for (StringRef place : {"saved", "standard"}) {
    std::string get = environment.get.str(), set = environment.set.str();
    replaceAll(get, "$at", place);
    replaceAll(set, "$at", place);
    replaceAll(text, ("call void @get_environment(ptr %" + place + ")").str(),
               get);
    replaceAll(text, ("call void @set_environment(ptr %" + place + ")").str(),
               set);
  }
  replaceAll(text, "$environment", environment.declarations);
  replaceAll(text, "$mask", environment.mask);
  replaceAll(text, "$standard", environment.standard);
  return text;
}

/// Adds the two tables and the struct %plan that refers to them.
GlobalVariable *addTables(llvm::Module &module, const Plan &plan) {
  LLVMContext &context = module.getContext();
  Type *i64 = Type::getInt64Ty(context);
  PointerType *pointer = PointerType::getUnqual(context);
  StructType *launchType = StructType::get(pointer, i64, i64);
  StructType *planType = StructType::get(i64, i64, pointer, pointer);
  auto *kernelType =
      FunctionType::get(Type::getVoidTy(context), {pointer, i64, i64}, false);
  auto number = [&](int64_t value) {
    return ConstantInt::getSigned(i64, value);
  };
  auto constant = [&](Constant *value) {
    auto *global =
        new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                           GlobalValue::PrivateLinkage, value);
    global->setAlignment(Align(8));
    return global;
  };
  std::vector<Constant *> launches;
  std::vector<uint64_t> references;
  size_t longest = 1;
  for (const PlanLaunch &launch : plan.launches) {
    Constant *kernel = cast<Constant>(
        module.getOrInsertFunction(launch.symbol, kernelType).getCallee());
    launches.push_back(ConstantStruct::get(
        launchType, {kernel, number(launch.tiles),
                     number(static_cast<int64_t>(launch.buffers.size()))}));
    longest = std::max(longest, launch.buffers.size());
    for (const BufferRef &ref : launch.buffers) {
      references.push_back(static_cast<uint64_t>(indexOf(ref, plan)));
      references.push_back(static_cast<uint64_t>(ref.offset));
    }
  }
  Constant *launchTable =
      ConstantArray::get(ArrayType::get(launchType, launches.size()), launches);
  Constant *referenceTable =
      ConstantDataArray::get(context, ArrayRef<uint64_t>(references));
  return constant(ConstantStruct::get(
      planType, {number(static_cast<int64_t>(launches.size())),
                 number(static_cast<int64_t>(longest)), constant(launchTable),
                 constant(referenceTable)}));
}

/// In the entry of a program of symbolic dimensions: makes the tables of the
/// program for these dimensions on its stack, and hands them to the driver that
/// static programs use.
void runSymbolic(IRBuilder<> &b, llvm::Module &module, const Plan &plan,
                 Function *entry, FunctionCallee run) {
  PointerType *pointer = PointerType::getUnqual(module.getContext());
  Type *i64 = b.getInt64Ty();
  Value *buffers = entry->getArg(1), *dims = entry->getArg(2);
  DimsBuilder sizes(b, dims);
  GlobalVariable *tables = addTables(module, plan);
  auto *initial = cast<ConstantStruct>(tables->getInitializer());
  /// A copy on the stack of a table that the plan refers to.
  auto copyOf = [&](unsigned field) -> std::pair<Value *, Type *> {
    auto *table = cast<GlobalVariable>(initial->getOperand(field));
    Type *type = table->getValueType();
    AllocaInst *copy = b.CreateAlloca(type);
    copy->setAlignment(Align(8));
    b.CreateMemCpy(copy, Align(8), table, Align(8),
                   module.getDataLayout().getTypeAllocSize(type));
    return {copy, type};
  };
  auto [launches, launchesType] = copyOf(2);
  auto [references, referencesType] = copyOf(3);
  auto word = [&](Value *table, int64_t number) {
    return b.CreateConstGEP1_64(i64, table, uint64_t(number));
  };
  int64_t reference = 0;
  for (auto [i, launch] : llvm::enumerate(plan.launches)) {
    if (!launch.tileTerms.empty())
      b.CreateStore(sizes.at({launch.tiles, launch.tileTerms}),
                    word(launches, int64_t(3 * i + 1)));
    for (const BufferRef &ref : launch.buffers) {
      if (!ref.per.empty())
        b.CreateStore(sizes.offset(ref.offset, ref.per),
                      word(references, 2 * reference + 1));
      ++reference;
    }
  }
  // The dimensions are one buffer more.
  Value *all =
      b.CreateAlloca(ArrayType::get(pointer, uint64_t(plan.numBuffers + 1)));
  b.CreateMemCpy(all, Align(8), buffers, Align(8),
                 uint64_t(8 * plan.numBuffers));
  b.CreateStore(dims,
                b.CreateConstGEP1_64(pointer, all, uint64_t(plan.numBuffers)));
  Type *planType = tables->getValueType();
  Value *here = b.CreateAlloca(planType);
  for (unsigned field : {0u, 1u})
    b.CreateStore(initial->getOperand(field),
                  b.CreateStructGEP(planType, here, field));
  b.CreateStore(launches, b.CreateStructGEP(planType, here, 2));
  b.CreateStore(references, b.CreateStructGEP(planType, here, 3));
  b.CreateCall(run, {here, entry->getArg(0), all, entry->getArg(3)});
}

/// The function of type tessera_entry_fn: hands the plan's tables to the
/// driver.
void addEntry(llvm::Module &module, const Plan &plan, StringRef name,
              StringRef driver) {
  LLVMContext &context = module.getContext();
  PointerType *pointer = PointerType::getUnqual(context);
  IRBuilder<> b(context);
  FunctionCallee run = module.getOrInsertFunction(
      driver, FunctionType::get(b.getVoidTy(),
                                {pointer, pointer, pointer, pointer}, false));
  auto *type = FunctionType::get(
      b.getInt32Ty(), {pointer, pointer, pointer, pointer, pointer}, false);
  Function *entry =
      Function::Create(type, GlobalValue::ExternalLinkage, name, module);
  b.SetInsertPoint(BasicBlock::Create(context, "", entry));
  if (plan.symbols > 0)
    runSymbolic(b, module, plan, entry, run);
  else
    b.CreateCall(run, {addTables(module, plan), entry->getArg(0),
                       entry->getArg(1), entry->getArg(3)});
  b.CreateRet(b.getInt32(0));
}

StringSet<> symbolsOf(const Plan &plan) {
  StringSet<> symbols;
  for (const PlanLaunch &launch : plan.launches)
    symbols.insert(launch.symbol);
  return symbols;
}

/// The driver of this process for `target`, compiled once a process at most,
/// and mostly taken from the disk.
Expected<std::shared_ptr<LoadedObject>>
loadDriver(const TargetInfo &target, ObjectCache &cache, StringRef key) {
  // Kept for the rest of the process: the next plan needs it again.
  static std::mutex mutex;
  static auto *drivers = new StringMap<std::shared_ptr<LoadedObject>>;
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<LoadedObject> &driver = (*drivers)[key];
  if (driver)
    return driver;
  std::optional<std::string> bytes = cache.get("driver", key);
  if (!bytes) {
    Expected<IRModule> ir = parseIR(driverFor(target));
    if (!ir)
      return ir.takeError();
    ir->module->getFunction(kDriverName)
        ->setName(kDriverName + "_" + key.take_front(32));
    if (Error error = optimize(*ir, target))
      return std::move(error);
    Expected<std::string> object = emitObject(std::move(*ir), target);
    if (!object)
      return object.takeError();
    bytes = std::move(*object);
    cache.put("driver", key, *bytes);
  }
  Expected<std::shared_ptr<LoadedObject>> loaded = loadObject(*bytes, key);
  if (!loaded)
    return loaded.takeError();
  return driver = std::move(*loaded);
}

std::string planKey(const Plan &plan, const TargetInfo &target) {
  std::string bytes;
  auto number = [&](int64_t value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  for (const PlanLaunch &launch : plan.launches) {
    bytes += launch.symbol + '\0';
    number(launch.tiles);
    number(static_cast<int64_t>(launch.buffers.size()));
    for (const BufferRef &ref : launch.buffers) {
      number(indexOf(ref, plan));
      number(ref.offset);
      for (int64_t per : ref.per)
        number(per);
    }
    for (const runtime::SizeFormula::Term &term : launch.tileTerms)
      for (int64_t value :
           {term.symbol, term.times, term.coefficient, term.plus, term.divisor})
        number(value);
  }
  if (plan.symbols > 0) {
    number(plan.symbols);
    number(plan.numBuffers);
  }
  return ObjectCache::keyFor(bytes, target);
}

/// The object of a plan's entry alone, with the driver as a symbol. It is not
/// optimised: a few instructions that run once a call.
Expected<std::string> entryObject(const Plan &plan, StringRef name,
                                  StringRef driver, const TargetInfo &target) {
  IRModule ir;
  ir.module = std::make_unique<llvm::Module>("plan", *ir.context);
  addEntry(*ir.module, plan, name, driver);
  StringSet<> symbols = symbolsOf(plan);
  return emitObject(
      std::move(ir), target,
      [&](StringRef symbol) {
        return symbol == driver || symbols.contains(symbol);
      },
      CodeGenOptLevel::None);
}

} // namespace

Expected<IRModule> planIR(const Plan &plan, StringRef name,
                          const TargetInfo &target) {
  Expected<IRModule> ir = parseIR(driverFor(target));
  if (!ir)
    return ir.takeError();
  ir->module->getFunction(kDriverName)
      ->setLinkage(GlobalValue::InternalLinkage);
  addEntry(*ir->module, plan, name, kDriverName);
  if (Error error = optimize(*ir, target))
    return std::move(error);
  return ir;
}

Expected<std::string> planObject(const Plan &plan, StringRef name,
                                 const TargetInfo &target) {
  Expected<IRModule> ir = planIR(plan, name, target);
  if (!ir)
    return ir.takeError();
  StringSet<> symbols = symbolsOf(plan);
  return emitObject(std::move(*ir), target,
                    [&](StringRef symbol) { return symbols.contains(symbol); });
}

Expected<CompiledPlan>
loadPlan(const Plan &plan,
         ArrayRef<std::shared_ptr<const CompiledObject>> kernels,
         const TargetInfo &target, ObjectCache *cacheOrNull) {
  ObjectCache &cache = cacheOrNull ? *cacheOrNull : ObjectCache::instance();
  std::string driverKey = ObjectCache::keyFor(driverFor(target), target),
              key = planKey(plan, target);
  std::string driverName =
      (kDriverName + "_" + StringRef(driverKey).take_front(32)).str();
  std::string name = ("tessera_plan_" + StringRef(key).take_front(32)).str();
  Expected<std::shared_ptr<LoadedObject>> driver =
      loadDriver(target, cache, driverKey);
  if (!driver)
    return driver.takeError();
  std::vector<std::shared_ptr<LoadedObject>> dependencies{*driver};
  for (const auto &kernel : kernels)
    dependencies.push_back(kernel->code);
  std::optional<std::string> bytes = cache.get("plan", key);
  if (!bytes) {
    Expected<std::string> object = entryObject(plan, name, driverName, target);
    if (!object)
      return object.takeError();
    bytes = std::move(*object);
    cache.put("plan", key, *bytes);
  }
  Expected<std::shared_ptr<LoadedObject>> loaded =
      loadObject(*bytes, key, std::move(dependencies));
  if (!loaded)
    return loaded.takeError();
  return CompiledPlan{*loaded, (*loaded)->lookup(name)};
}

} // namespace tessera::lowering
