// The exported description of each kernel, and the tables that it points to.
#include "lowering/GPU/Sim/SimBuilder.h"
#include "runtime/sim/SimAbi.h"

using namespace mlir;

namespace tessera::lowering {

namespace {

constexpr StringLiteral kStrings = "tessera_sim_strings",
                        kSites = "tessera_sim_sites";

/// An array of i32, which stands for structs of nothing else.
LLVM::GlobalOp addNumbers(SimBuilder &b, StringRef name,
                          ArrayRef<int32_t> numbers) {
  auto type = LLVM::LLVMArrayType::get(b.i32, numbers.size());
  Attribute value =
      numbers.empty()
          ? Attribute()
          : DenseElementsAttr::get(
                RankedTensorType::get({int64_t(numbers.size())}, b.i32),
                numbers);
  return LLVM::GlobalOp::create(b, b.module.getLoc(), type, /*isConstant=*/true,
                                LLVM::Linkage::Internal, name, value,
                                /*alignment=*/4);
}

/// void entry(lane, args): loads the arguments and calls the kernel.
LLVM::LLVMFuncOp addEntry(SimBuilder &b, LLVM::LLVMFuncOp kernel,
                          StringRef name) {
  Location loc = kernel.getLoc();
  b.setInsertionPointAfter(kernel);
  auto entry = LLVM::LLVMFuncOp::create(
      b, loc, (name + ".entry").str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {b.ptr, b.ptr}),
      LLVM::Linkage::Internal);
  Block *body = entry.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  auto byValue = kernel->getAttrOfType<DenseI64ArrayAttr>("by_value");
  SmallVector<Value> args = {body->getArgument(0)};
  for (auto [index, type] :
       llvm::enumerate(kernel.getArgumentTypes().drop_front())) {
    Value slot = LLVM::GEPOp::create(b, loc, b.ptr, b.ptr, body->getArgument(1),
                                     ArrayRef<LLVM::GEPArg>{int32_t(index)});
    Value place = LLVM::LoadOp::create(b, loc, b.ptr, slot);
    args.push_back(llvm::is_contained(byValue.asArrayRef(), int64_t(index))
                       ? place
                       : LLVM::LoadOp::create(b, loc, type, place, 1));
  }
  LLVM::CallOp::create(b, loc, kernel, args);
  LLVM::ReturnOp::create(b, loc, ValueRange{});
  return entry;
}

/// The arrays that a kernel and the functions that it calls use, in the order
/// of the module.
SmallVector<SharedArray> arraysOf(SimBuilder &b, LLVM::LLVMFuncOp kernel) {
  llvm::SetVector<Operation *> functions;
  functions.insert(kernel);
  for (size_t i = 0; i < functions.size(); ++i)
    functions[i]->walk([&](LLVM::CallOp call) {
      functions.insert(
          b.module.lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee()));
    });
  SmallVector<unsigned> used;
  for (Operation *function : functions)
    llvm::append_range(used, b.uses[function]);
  llvm::sort(used);
  used.erase(llvm::unique(used), used.end());
  return llvm::map_to_vector(used, [&](unsigned i) { return b.arrays[i]; });
}

/// What the arrays take on a device, one right after the other.
int64_t deviceBytes(SimBuilder &b, ArrayRef<SharedArray> arrays) {
  int64_t bytes = 0;
  for (const SharedArray &array : arrays)
    bytes = llvm::alignTo(bytes, array.alignment) + array.bytes;
  return llvm::alignTo(bytes, b.dynamicAlignment);
}

/// A bound of the block, such as nvvm.reqntid; zeros where there is none.
std::array<int32_t, 3> boundOf(LLVM::LLVMFuncOp kernel, StringRef name) {
  auto bound = kernel->getAttrOfType<DenseI32ArrayAttr>(name);
  if (!bound || bound.empty())
    return {0, 0, 0};
  std::array<int32_t, 3> result = {1, 1, 1};
  llvm::copy(bound.asArrayRef().take_front(3), result.begin());
  return result;
}

void addDescription(SimBuilder &b, LLVM::LLVMFuncOp kernel,
                    StringRef kernelName, LLVM::LLVMFuncOp entry) {
  Location loc = kernel.getLoc();
  SmallVector<SharedArray> arrays = arraysOf(b, kernel);
  SmallVector<int32_t> arrayNumbers;
  for (const SharedArray &array : arrays)
    arrayNumbers.append({int32_t(b.string(array.name)), int32_t(array.offset),
                         int32_t(array.bytes)});
  std::string arrayTable = (kernelName + ".arrays").str();
  b.setInsertionPointAfter(entry);
  addNumbers(b, arrayTable, arrayNumbers);
  auto required = boundOf(kernel, "nvvm.reqntid");
  auto most = boundOf(kernel, "nvvm.maxntid");
  const int32_t numbers[] = {int32_t(b.string(kernelName)),
                             int32_t(kernel.getNumArguments()) - 1,
                             int32_t(b.sites.size()) / 4,
                             int32_t(arrays.size()),
                             int32_t(b.dynamicOffset),
                             int32_t(deviceBytes(b, arrays)),
                             int32_t(b.granule),
                             (b.options.checks ? TESSERA_SIM_CHECKED : 0) |
                                 (b.options.counters ? TESSERA_SIM_COUNTED : 0),
                             required[0],
                             required[1],
                             required[2],
                             most[0] * most[1] * most[2]};
  auto numbersType = LLVM::LLVMArrayType::get(b.i32, std::size(numbers));
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), {b.ptr, b.ptr, b.ptr, b.ptr, numbersType});
  b.setInsertionPointAfter(entry);
  auto global = LLVM::GlobalOp::create(
      b, loc, type, /*isConstant=*/true, LLVM::Linkage::External,
      (kernelName + b.options.symbolSuffix).str(), Attribute(),
      /*alignment=*/8);
  b.setInsertionPointToStart(b.createBlock(&global.getInitializerRegion()));
  Value value = LLVM::PoisonOp::create(b, loc, type);
  int64_t field = 0;
  for (StringRef name : {entry.getName(), StringRef(kStrings),
                         StringRef(kSites), StringRef(arrayTable)}) {
    Value address = LLVM::AddressOfOp::create(b, loc, b.ptr, name);
    value = LLVM::InsertValueOp::create(b, loc, value, address, field++);
  }
  Value constants = LLVM::ConstantOp::create(
      b, loc, numbersType,
      DenseElementsAttr::get(
          RankedTensorType::get({int64_t(std::size(numbers))}, b.i32),
          ArrayRef<int32_t>(numbers)));
  value = LLVM::InsertValueOp::create(b, loc, value, constants, field);
  LLVM::ReturnOp::create(b, loc, value);
}

} // namespace

static_assert(offsetof(tessera_sim_kernel, name) == 4 * sizeof(void *) &&
              sizeof(tessera_sim_kernel) == 4 * sizeof(void *) + 12 * 4);

void addKernelTables(SimBuilder &b) {
  SmallVector<LLVM::LLVMFuncOp> kernels;
  for (auto func : b.module.getOps<LLVM::LLVMFuncOp>())
    if (func->hasAttr("nvvm.kernel"))
      kernels.push_back(func);
  for (LLVM::LLVMFuncOp kernel : kernels) {
    // The exported name may be the kernel's own. Strings are added before the
    // table of them is made.
    std::string name = kernel.getName().str();
    kernel.setName(name + ".body");
    addDescription(b, kernel, name, addEntry(b, kernel, name));
  }
  b.setInsertionPointToEnd(b.module.getBody());
  addNumbers(b, kSites, b.sites);
  LLVM::GlobalOp::create(
      b, b.module.getLoc(),
      LLVM::LLVMArrayType::get(b.getI8Type(), b.strings.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal, kStrings,
      b.getStringAttr(b.strings));
  for (auto func : b.module.getOps<LLVM::LLVMFuncOp>())
    for (StringRef name :
         {"nvvm.kernel", "nvvm.reqntid", "nvvm.maxntid", "by_value"})
      func->removeAttr(name);
}

} // namespace tessera::lowering
