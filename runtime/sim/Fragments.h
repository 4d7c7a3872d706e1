// Which elements of a matrix each lane holds: the PTX ISA's tables as data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tessera::runtime::sim {

enum class MmaType : uint8_t { F16, BF16, TF32, F32, F64, S8, U8, S32 };

// The number of bits of an element in a fragment.
constexpr uint32_t bitsOf(MmaType type) {
  switch (type) {
  case MmaType::S8:
  case MmaType::U8:
    return 8;
  case MmaType::F16:
  case MmaType::BF16:
    return 16;
  case MmaType::F64:
    return 64;
  default:
    return 32;
  }
}

struct Place {
  uint8_t row, column;
};

// One operand's elements of a lane, in the order of its registers. With
// group = lane / 4 and thread = lane % 4, element i is at
//   (groupRow * group + threadRow * thread + at[i].row,
//    groupColumn * group + threadColumn * thread + at[i].column).
struct Fragment {
  uint8_t groupRow, threadRow, groupColumn, threadColumn;
  std::span<const Place> at;

  constexpr Place place(uint32_t lane, uint32_t i) const {
    const uint32_t group = lane / 4, thread = lane % 4;
    return {
        uint8_t(groupRow * group + threadRow * thread + at[i].row),
        uint8_t(groupColumn * group + threadColumn * thread + at[i].column)};
  }
};

// One shape of mma.sync with its operand types; B is [k,n].
struct MmaShape {
  uint32_t m, n, k;
  MmaType a, b, c, d;
  Fragment fragmentA, fragmentB, fragmentC;

  static constexpr uint32_t registers(const Fragment &fragment, MmaType type) {
    return uint32_t(fragment.at.size()) * bitsOf(type) / 32;
  }
};

// All shapes there are. tessera_sim_mma() takes an index into them.
std::span<const MmaShape> mmaShapes();

// The index of a shape, or -1.
int findMmaShape(uint32_t m, uint32_t n, uint32_t k, MmaType a, MmaType b,
                 MmaType c, MmaType d);

} // namespace tessera::runtime::sim
