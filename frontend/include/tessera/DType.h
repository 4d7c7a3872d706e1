// The names of dtypes and devices in the user's namespace.
#pragma once

#include "runtime/DType.h"
#include "runtime/Device.h"

#include <source_location>

namespace tessera {

using runtime::Device;
using runtime::DType;
using runtime::dtypeOf;
using runtime::NativeElement;

inline constexpr DType boolean = DType::boolean;
inline constexpr DType i8 = DType::i8, i16 = DType::i16, i32 = DType::i32,
                       i64 = DType::i64;
inline constexpr DType u8 = DType::u8, u16 = DType::u16, u32 = DType::u32,
                       u64 = DType::u64;
inline constexpr DType f16 = DType::f16, bf16 = DType::bf16, f32 = DType::f32,
                       f64 = DType::f64;
inline constexpr DType complex64 = DType::complex64,
                       complex128 = DType::complex128;

/// The dtype in which two tensors meet: the table in docs/dtypes.md. Throws
/// TypeError for unsigned and complex dtypes, on which no op computes.
DType result_type(DType a, DType b);

/// Where tensors are made that no operand places: the CPU, or what was set.
Device default_device();
void set_default_device(const Device &device);

/// How many threads compute from now on, from 1 to 1024. Throws ValueError.
void set_num_threads(int threads);

/// How products of f32 are computed.
enum class MatmulPrecision {
  exact, ///< In f32 throughout.
  /// GPUs of sm_80 and later round both operands to tf32, which has 11
  /// significant bits, and add the exact products in f32 on tensor cores. Other
  /// devices compute as with `exact`.
  tf32,
};

/// How all products of f32 from now on are computed: programs are compiled
/// again for another precision. It is `exact` unless the environment variable
/// TESSERA_TF32 is 1. Products of other dtypes, sums and elementwise ops do not
/// depend on it.
void set_matmul_precision(MatmulPrecision precision);
/// What was set. Throws ValueError if TESSERA_TF32 is neither 0 nor 1.
MatmulPrecision
matmul_precision(std::source_location place = std::source_location::current());

} // namespace tessera
