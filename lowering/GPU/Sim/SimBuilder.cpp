// Calls into the emulator, places, and the layout of shared memory.
#include "lowering/GPU/Sim/SimBuilder.h"
#include "lowering/CodeGen/UserPlace.h"
#include "runtime/sim/SimAbi.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tessera::lowering {

namespace {

constexpr unsigned kShared = 3;
/// All banks of shared memory, so that a gap moves no array to another bank.
constexpr int64_t kGap = 128;

} // namespace

SimBuilder::SimBuilder(ModuleOp module, const SimOptions &options)
    : OpBuilder(module.getContext()), module(module), options(options),
      layout(module) {
  ptr = LLVM::LLVMPointerType::get(getContext());
  i1 = getI1Type(), i32 = getI32Type(), i64 = getI64Type(), f32 = getF32Type();
}

uint32_t SimBuilder::string(StringRef text) {
  auto [it, isNew] = stringOffsets.try_emplace(text, strings.size());
  if (isNew)
    strings.append(text).push_back('\0');
  return it->second;
}

LogicalResult SimBuilder::layOutShared() {
  SmallVector<LLVM::GlobalOp> globals;
  for (auto global : module.getOps<LLVM::GlobalOp>())
    if (global.getAddrSpace() == kShared)
      globals.push_back(global);
  auto alignmentOf = [&](LLVM::GlobalOp global) {
    int64_t natural = layout.getTypeABIAlignment(global.getType());
    return std::max<int64_t>(natural, global.getAlignment().value_or(1));
  };
  int64_t gap = kGap, end = 0;
  for (LLVM::GlobalOp global : globals)
    gap = std::max(gap, alignmentOf(global));
  // The names are attributes, which outlive the ops.
  for (LLVM::GlobalOp global : globals) {
    int64_t bytes = layout.getTypeSize(global.getType());
    int64_t alignment = alignmentOf(global);
    if (!global.getInitializerRegion().empty() || global.getValueOrNull())
      return global.emitError("shared memory cannot be initialised");
    if (bytes == 0) {
      dynamicAlignment = std::max(dynamicAlignment, alignment);
      dynamicNames.insert(global.getName());
    } else {
      int64_t offset = llvm::alignTo(end, alignment);
      arrayIndices[global.getName()] = arrays.size();
      arrays.push_back({global.getName(), offset, bytes, alignment});
      end = offset + bytes + gap;
    }
    global.erase();
  }
  dynamicOffset = llvm::alignTo(end, std::max<int64_t>(16, dynamicAlignment));
  return success();
}

Value SimBuilder::site(Operation *op) {
  StringRef file = "?";
  int32_t line = 0, column = 0;
  if (FileLineColLoc place = userPlace(op->getLoc())) {
    file = place.getFilename();
    line = int32_t(place.getLine());
    column = int32_t(place.getColumn());
  }
  int64_t index = int64_t(sites.size()) / 4;
  StringRef name = op->getName().getStringRef();
  sites.insert(sites.end(),
               {int32_t(string(file)), line, column, int32_t(string(name))});
  return constant(op->getLoc(), index);
}

Value SimBuilder::constant(Location loc, int64_t value, unsigned bits) {
  return LLVM::ConstantOp::create(*this, loc, getIntegerType(bits), value);
}

Value SimBuilder::asI32(Location loc, Value value) {
  Type type = value.getType();
  if (type == i32)
    return value;
  if (!type.isInteger())
    return LLVM::BitcastOp::create(*this, loc, i32, value);
  if (type.getIntOrFloatBitWidth() > 32)
    return LLVM::TruncOp::create(*this, loc, i32, value);
  return LLVM::ZExtOp::create(*this, loc, i32, value);
}

Value SimBuilder::asGeneric(Location loc, Value pointer) {
  if (pointer.getType() == ptr)
    return pointer;
  return LLVM::AddrSpaceCastOp::create(*this, loc, ptr, pointer);
}

Value SimBuilder::lane() {
  Operation *op = getInsertionBlock()->getParentOp();
  auto func = dyn_cast<LLVM::LLVMFuncOp>(op);
  if (!func)
    func = op->getParentOfType<LLVM::LLVMFuncOp>();
  return func.getArgument(0);
}

Value SimBuilder::laneField(Location loc, size_t offset, Type type) {
  Value field = LLVM::GEPOp::create(*this, loc, ptr, getI8Type(), lane(),
                                    ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  return LLVM::LoadOp::create(*this, loc, type, field);
}

Value SimBuilder::stackWords(Location loc, int64_t words) {
  OpBuilder::InsertionGuard guard(*this);
  auto func = cast<LLVM::LLVMFuncOp>(lane().getParentBlock()->getParentOp());
  setInsertionPointToStart(&func.front());
  return LLVM::AllocaOp::create(*this, loc, ptr, i32, constant(loc, words),
                                /*alignment=*/16);
}

Value SimBuilder::word(Location loc, Value words, int64_t index) {
  return LLVM::GEPOp::create(*this, loc, ptr, i32, words,
                             ArrayRef<LLVM::GEPArg>{int32_t(index)});
}

Value SimBuilder::callAt(Operation *op, StringRef name, Type result,
                         ValueRange args) {
  SmallVector<Value> all = {lane()};
  all.append(args.begin(), args.end());
  all.push_back(site(op));
  return call(op->getLoc(), name, result, all);
}

Value SimBuilder::call(Location loc, StringRef name, Type result,
                       ValueRange args) {
  std::string symbol = (kSimPrefix + name).str();
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
  if (!callee) {
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPointToStart(module.getBody());
    SmallVector<Type> types(args.getTypes());
    callee = LLVM::LLVMFuncOp::create(
        *this, module.getLoc(), symbol,
        LLVM::LLVMFunctionType::get(
            result ? result : LLVM::LLVMVoidType::get(getContext()), types));
  }
  auto call = LLVM::CallOp::create(*this, loc, callee, args);
  return result ? call.getResult() : Value();
}

LogicalResult SimBuilder::lowerAddress(LLVM::AddressOfOp op) {
  auto type = cast<LLVM::LLVMPointerType>(op.getType());
  Location loc = op.getLoc();
  setInsertionPoint(op);
  Value address;
  auto array = arrayIndices.find(op.getGlobalName());
  bool isDynamic = dynamicNames.contains(op.getGlobalName());
  if (isDynamic || array != arrayIndices.end()) {
    if (!isDynamic)
      uses[op->getParentOfType<LLVM::LLVMFuncOp>()].insert(array->second);
    int64_t offset = isDynamic ? dynamicOffset : arrays[array->second].offset;
    Value base = laneField(loc, offsetof(tessera_sim_lane, shared), ptr);
    address = LLVM::GEPOp::create(*this, loc, ptr, getI8Type(), base,
                                  ArrayRef<LLVM::GEPArg>{int32_t(offset)});
  } else if (type.getAddressSpace() != 0) {
    address = LLVM::AddressOfOp::create(*this, loc, ptr, op.getGlobalName());
  } else {
    return success();
  }
  if (address.getType() != type)
    address = LLVM::AddrSpaceCastOp::create(*this, loc, type, address);
  op.replaceAllUsesWith(address);
  op.erase();
  return success();
}

} // namespace tessera::lowering
