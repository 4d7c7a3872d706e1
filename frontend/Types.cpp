// Dtypes as element types of the dialect, and how they are promoted.
#include "frontend/Types.h"
#include "frontend/Devices.h"
#include "frontend/Recording.h"

#include "lowering/Aot/Interface.h"
#include "runtime/Environment.h"
#include "runtime/ThreadPool.h"
#include "tessera/Error.h"

#include <atomic>
#include <mutex>
#include <set>

using namespace mlir;

namespace tessera {

Type detail::elementType(MLIRContext *context, DType dtype) {
  switch (dtype) {
  case DType::boolean:
    return IntegerType::get(context, 1);
  case DType::i8:
  case DType::i16:
  case DType::i32:
  case DType::i64:
    return IntegerType::get(context, unsigned(runtime::bytesOf(dtype) * 8));
  case DType::f16:
    return Float16Type::get(context);
  case DType::bf16:
    return BFloat16Type::get(context);
  case DType::f32:
    return Float32Type::get(context);
  case DType::f64:
    return Float64Type::get(context);
  default:
    return {};
  }
}

DType detail::dtypeFor(Type element) { return lowering::dtypeOf(element); }

DType result_type(DType a, DType b) {
  auto check = [](DType dtype) {
    if (runtime::isUnsigned(dtype) || runtime::isComplex(dtype))
      throw TypeError({}, "result_type",
                      "no op computes with " +
                          std::string(runtime::nameOf(dtype)));
  };
  check(a);
  check(b);
  if (runtime::isFloat(a) != runtime::isFloat(b))
    return runtime::isFloat(a) ? a : b;
  // Neither half precision format holds the values of the other.
  if ((a == f16 && b == bf16) || (a == bf16 && b == f16))
    return f32;
  return std::max(a, b);
}

static constinit const Device cpu;
static std::atomic<const Device *> theDefaultDevice{&cpu};

Device default_device() {
  return *theDefaultDevice.load(std::memory_order_acquire);
}

void set_default_device(const Device &device) {
  detail::checkDevice(device, "set_default_device", {});
  // Each device that was ever set stays, since another thread may read it.
  static std::mutex mutex;
  static auto &devices = *new std::set<Device>;
  std::lock_guard guard(mutex);
  theDefaultDevice = &*devices.insert(device).first;
}

void set_num_threads(int threads) {
  if (threads < 1 || threads > runtime::kMaxThreads)
    throw ValueError({}, "set_num_threads",
                     "the number of threads must be from 1 to 1024, not " +
                         std::to_string(threads));
  runtime::setNumThreads(threads);
}

static constexpr int kNotSet = -1;
static std::atomic<int> thePrecision{kNotSet};

void set_matmul_precision(MatmulPrecision precision) {
  thePrecision = int(precision);
}

MatmulPrecision matmul_precision(std::source_location place) {
  int precision = thePrecision.load(std::memory_order_relaxed);
  if (precision != kNotSet) [[likely]]
    return MatmulPrecision(precision);
  try {
    // Another thread may set it meanwhile, which then holds.
    bool tf32 = runtime::readFlag(runtime::Variable::Tf32).value_or(false);
    auto wanted = tf32 ? MatmulPrecision::tf32 : MatmulPrecision::exact;
    if (thePrecision.compare_exchange_strong(precision, int(wanted)))
      return wanted;
    return MatmulPrecision(precision);
  } catch (const std::invalid_argument &error) {
    throw ValueError(detail::errorPlace(place), "matmul_precision",
                     error.what());
  }
}

} // namespace tessera
