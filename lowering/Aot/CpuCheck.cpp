// The CPU's features by cpuid, as the object's own code asks for them.
#include "lowering/Aot/CpuCheck.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/TargetParser/Triple.h"
#include <map>

using namespace llvm;

namespace tessera::lowering {

namespace {

/// Where cpuid tells of a feature: the leaf and its subleaf, the register (0 to
/// 3 are eax, ebx, ecx, edx) and the bit. From the manuals of AMD and Intel.
struct FeatureBit {
  StringRef feature;
  uint32_t leaf, subleaf, reg, bit;
};
constexpr uint32_t kExtended = 0x80000001;
constexpr FeatureBit kBits[] = {
    {"sse3", 1, 0, 2, 0},
    {"pclmul", 1, 0, 2, 1},
    {"ssse3", 1, 0, 2, 9},
    {"fma", 1, 0, 2, 12},
    {"cx16", 1, 0, 2, 13},
    {"sse4.1", 1, 0, 2, 19},
    {"sse4.2", 1, 0, 2, 20},
    {"movbe", 1, 0, 2, 22},
    {"popcnt", 1, 0, 2, 23},
    {"aes", 1, 0, 2, 25},
    {"avx", 1, 0, 2, 28},
    {"f16c", 1, 0, 2, 29},
    {"bmi", 7, 0, 1, 3},
    {"avx2", 7, 0, 1, 5},
    {"bmi2", 7, 0, 1, 8},
    {"avx512f", 7, 0, 1, 16},
    {"avx512dq", 7, 0, 1, 17},
    {"adx", 7, 0, 1, 19},
    {"avx512ifma", 7, 0, 1, 21},
    {"avx512cd", 7, 0, 1, 28},
    {"sha", 7, 0, 1, 29},
    {"avx512bw", 7, 0, 1, 30},
    {"avx512vl", 7, 0, 1, 31},
    {"avx512vbmi", 7, 0, 2, 1},
    {"avx512vbmi2", 7, 0, 2, 6},
    {"gfni", 7, 0, 2, 8},
    {"vaes", 7, 0, 2, 9},
    {"vpclmulqdq", 7, 0, 2, 10},
    {"avx512vnni", 7, 0, 2, 11},
    {"avx512bitalg", 7, 0, 2, 12},
    {"avx512vpopcntdq", 7, 0, 2, 14},
    {"amx-bf16", 7, 0, 3, 22},
    {"avx512fp16", 7, 0, 3, 23},
    {"amx-tile", 7, 0, 3, 24},
    {"amx-int8", 7, 0, 3, 25},
    {"avxvnni", 7, 1, 0, 4},
    {"avx512bf16", 7, 1, 0, 5},
    {"lzcnt", kExtended, 0, 2, 5},
    {"sse4a", kExtended, 0, 2, 6},
    {"xop", kExtended, 0, 2, 11},
    {"fma4", kExtended, 0, 2, 16},
    {"tbm", kExtended, 0, 2, 21},
};

/// One question to cpuid: all bits of `mask` must be set.
using Place = std::tuple<uint32_t, uint32_t, uint32_t>;
using Questions = std::map<Place, uint32_t>;

Questions questionsFor(const TargetInfo &target) {
  Questions questions;
  SmallVector<StringRef> features;
  StringRef(target.features).split(features, ',');
  for (const FeatureBit &bit : kBits)
    if (is_contained(features, ("+" + bit.feature).str()))
      questions[{bit.leaf, bit.subleaf, bit.reg}] |= 1u << bit.bit;
  return questions;
}

/// The state that the operating system must save: SSE and AVX registers, and
/// those of AVX-512.
uint32_t stateOf(const TargetInfo &target) {
  return target.hasAVX512 ? 0xE6 : target.hasAVX ? 0x6 : 0;
}

/// A question is {leaf, subleaf, register, mask}. A leaf beyond the largest of
/// its range must not be asked for: old processors answer it with another.
constexpr StringRef kFits = R"(
%question = type { i32, i32, i32, i32 }
%answer = type { i32, i32, i32, i32 }

define internal i1 @tessera_cpu_fits(ptr %questions, i64 %count, i32 %state) nounwind {
entry:
  %registers = alloca [4 x i32]
  %any.state = icmp ne i32 %state, 0
  br i1 %any.state, label %os, label %head
os:
  %one = call %answer asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx}"(i32 1, i32 0)
  %one.ecx = extractvalue %answer %one, 2
  %osxsave = and i32 %one.ecx, 134217728
  %has.xgetbv = icmp ne i32 %osxsave, 0
  br i1 %has.xgetbv, label %xgetbv, label %no
xgetbv:
  %xcr = call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx}"(i32 0)
  %low = extractvalue { i32, i32 } %xcr, 0
  %kept = and i32 %low, %state
  %all.kept = icmp eq i32 %kept, %state
  br i1 %all.kept, label %head, label %no
head:
  %i = phi i64 [ 0, %entry ], [ 0, %xgetbv ], [ %next, %compare ]
  %done = icmp eq i64 %i, %count
  br i1 %done, label %yes, label %ask
ask:
  %question = getelementptr %question, ptr %questions, i64 %i
  %leaf = load i32, ptr %question
  %subleaf.at = getelementptr %question, ptr %question, i64 0, i32 1
  %subleaf = load i32, ptr %subleaf.at
  %register.at = getelementptr %question, ptr %question, i64 0, i32 2
  %register = load i32, ptr %register.at
  %mask.at = getelementptr %question, ptr %question, i64 0, i32 3
  %mask = load i32, ptr %mask.at
  %range = and i32 %leaf, -2147483648
  %most = call %answer asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx}"(i32 %range, i32 0)
  %most.eax = extractvalue %answer %most, 0
  %exists = icmp uge i32 %most.eax, %leaf
  br i1 %exists, label %compare, label %no
compare:
  %told = call %answer asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx}"(i32 %leaf, i32 %subleaf)
  store %answer %told, ptr %registers
  %at = getelementptr [4 x i32], ptr %registers, i64 0, i32 %register
  %value = load i32, ptr %at
  %set = and i32 %value, %mask
  %all.set = icmp eq i32 %set, %mask
  %next = add i64 %i, 1
  br i1 %all.set, label %head, label %no
yes:
  ret i1 true
no:
  ret i1 false
}
)";

Constant *tableOf(llvm::Module &module, const Questions &questions) {
  LLVMContext &context = module.getContext();
  SmallVector<uint32_t> words;
  for (const auto &[place, mask] : questions)
    words.append(
        {std::get<0>(place), std::get<1>(place), std::get<2>(place), mask});
  Constant *data = ConstantDataArray::get(context, ArrayRef<uint32_t>(words));
  return new GlobalVariable(module, data->getType(), /*isConstant=*/true,
                            GlobalValue::PrivateLinkage, data);
}

/// The function that asks, without the memory of its answer.
Function *addSearch(llvm::Module &module, ArrayRef<TargetInfo> targets,
                    Function *fits) {
  LLVMContext &context = module.getContext();
  IRBuilder<> b(context);
  auto *search = Function::Create(FunctionType::get(b.getInt32Ty(), false),
                                  GlobalValue::InternalLinkage,
                                  "tessera_cpu_search", module);
  search->addFnAttr(Attribute::NoInline);
  b.SetInsertPoint(BasicBlock::Create(context, "", search));
  for (auto [i, target] : enumerate(targets)) {
    Questions questions = questionsFor(target);
    Value *fit = b.CreateCall(fits, {tableOf(module, questions),
                                     b.getInt64(questions.size()),
                                     b.getInt32(stateOf(target))});
    auto *found = BasicBlock::Create(context, "", search);
    auto *next = BasicBlock::Create(context, "", search);
    b.CreateCondBr(fit, found, next);
    b.SetInsertPoint(found);
    b.CreateRet(b.getInt32(i));
    b.SetInsertPoint(next);
  }
  b.CreateRet(b.getInt32(-1));
  return search;
}

} // namespace

Expected<Function *> addCpuChoice(llvm::Module &module,
                                  ArrayRef<TargetInfo> targets) {
  if (!targets.front().isX86() ||
      (targets.size() == 1 && questionsFor(targets.front()).empty()))
    return nullptr;
  LLVMContext &context = module.getContext();
  SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> fits =
      parseAssemblyString(kFits, diagnostic, context);
  if (!fits)
    return createStringError("internal error: the CPU check does not parse: " +
                             diagnostic.getMessage());
  fits->getFunction("tessera_cpu_fits")
      ->setLinkage(GlobalValue::ExternalLinkage);
  fits->setDataLayout(module.getDataLayout());
  fits->setTargetTriple(module.getTargetTriple());
  if (Linker::linkModules(module, std::move(fits)))
    return createStringError("internal error: the CPU check does not link");
  Function *check = module.getFunction("tessera_cpu_fits");
  check->setLinkage(GlobalValue::InternalLinkage);
  Function *search = addSearch(module, targets, check);

  // cpuid takes a microsecond or more under a hypervisor, so its answer is
  // kept: 0 is "not asked yet", else it is the number plus 2. Threads that ask
  // at once store the same.
  IRBuilder<> b(context);
  auto *memory = new GlobalVariable(
      module, b.getInt32Ty(), /*isConstant=*/false,
      GlobalValue::InternalLinkage, b.getInt32(0), "tessera_cpu_answer");
  auto *choice = Function::Create(FunctionType::get(b.getInt32Ty(), false),
                                  GlobalValue::InternalLinkage,
                                  "tessera_cpu_choice", module);
  auto *entry = BasicBlock::Create(context, "", choice),
       *ask = BasicBlock::Create(context, "", choice),
       *known = BasicBlock::Create(context, "", choice);
  b.SetInsertPoint(entry);
  LoadInst *answer = b.CreateLoad(b.getInt32Ty(), memory);
  answer->setAtomic(AtomicOrdering::Monotonic);
  b.CreateCondBr(b.CreateICmpEQ(answer, b.getInt32(0)), ask, known);
  b.SetInsertPoint(ask);
  Value *asked = b.CreateAdd(b.CreateCall(search), b.getInt32(2));
  b.CreateStore(asked, memory)->setAtomic(AtomicOrdering::Monotonic);
  b.CreateBr(known);
  b.SetInsertPoint(known);
  PHINode *value = b.CreatePHI(b.getInt32Ty(), 2);
  value->addIncoming(answer, entry);
  value->addIncoming(asked, ask);
  b.CreateRet(b.CreateSub(value, b.getInt32(2)));
  return choice;
}

} // namespace tessera::lowering
