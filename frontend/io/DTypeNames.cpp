// The table of names.
#include "frontend/io/DTypeNames.h"

#include <iterator>

namespace tessera::io {
namespace {

using runtime::DType;

struct Names {
  DType dtype;
  std::string_view safetensors, npy;
};

// numpy has no bfloat16: its extension types are saved as raw 2-byte elements.
constexpr Names table[] = {
    {DType::boolean, "BOOL", "b1"}, {DType::i8, "I8", "i1"},
    {DType::i16, "I16", "i2"},      {DType::i32, "I32", "i4"},
    {DType::i64, "I64", "i8"},      {DType::u8, "U8", "u1"},
    {DType::u16, "U16", "u2"},      {DType::u32, "U32", "u4"},
    {DType::u64, "U64", "u8"},      {DType::f16, "F16", "f2"},
    {DType::bf16, "BF16", "V2"},    {DType::f32, "F32", "f4"},
    {DType::f64, "F64", "f8"},      {DType::complex64, "C64", "c8"},
    {DType::complex128, "", "c16"},
};

constexpr bool tableFollowsTheEnumeration() {
  for (size_t i = 0; i < std::size(table); ++i)
    if (size_t(table[i].dtype) != i)
      return false;
  return std::size(table) == std::size(runtime::kDTypes);
}
static_assert(tableFollowsTheEnumeration());

std::optional<DType> find(std::string_view Names::*column,
                          std::string_view name) {
  for (const Names &names : table)
    if (!name.empty() && names.*column == name)
      return names.dtype;
  return std::nullopt;
}

} // namespace

std::string_view safetensorsName(DType dtype) {
  return table[size_t(dtype)].safetensors;
}
std::string_view npyName(DType dtype) { return table[size_t(dtype)].npy; }

std::optional<DType> dtypeOfSafetensors(std::string_view name) {
  return find(&Names::safetensors, name);
}
std::optional<DType> dtypeOfNpy(std::string_view name) {
  return find(&Names::npy, name);
}

} // namespace tessera::io
