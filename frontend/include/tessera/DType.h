// The names of dtypes and devices in the user's namespace.
#pragma once

#include "runtime/DType.h"
#include "runtime/Device.h"

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

} // namespace tessera
