// ldmatrix and mma.sync.
#include "runtime/sim/Block.h"
#include "runtime/sim/Fragments.h"
#include "runtime/sim/NarrowFloats.h"

#include <cmath>
#include <cstring>

namespace tessera::runtime::sim {

namespace {

constexpr uint32_t kMostElements = 16 * 32; // of an operand of mma.sync

// The bits of element `i` in a lane's registers.
uint64_t elementOf(const uint32_t *registers, uint32_t i, uint32_t bits) {
  if (bits == 64)
    return registers[2 * i] | uint64_t(registers[2 * i + 1]) << 32;
  const uint32_t each = 32 / bits;
  const uint32_t word = registers[i / each] >> (i % each * bits);
  return bits == 32 ? word : word & ((1u << bits) - 1);
}

void setElement(uint32_t *registers, uint32_t i, uint32_t bits,
                uint64_t value) {
  if (bits == 64) {
    registers[2 * i] = uint32_t(value);
    registers[2 * i + 1] = uint32_t(value >> 32);
    return;
  }
  const uint32_t each = 32 / bits, shift = i % each * bits;
  const uint32_t mask = bits == 32 ? ~0u : ((1u << bits) - 1) << shift;
  registers[i / each] =
      (registers[i / each] & ~mask) | (uint32_t(value) << shift & mask);
}

// What an element counts as; every value of these types is a double.
double numberOf(uint64_t bits, MmaType type) {
  switch (type) {
  case MmaType::F16:
    return f16ToF32(uint32_t(bits));
  case MmaType::BF16:
    return bf16ToF32(uint32_t(bits));
  case MmaType::TF32: // the low 13 bits are ignored
    return std::bit_cast<float>(uint32_t(bits) & ~0x1fffu);
  case MmaType::F32:
    return std::bit_cast<float>(uint32_t(bits));
  case MmaType::F64:
    return std::bit_cast<double>(bits);
  case MmaType::S8:
    return int8_t(bits);
  case MmaType::U8:
    return uint8_t(bits);
  case MmaType::S32:
    return int32_t(bits);
  }
  return 0;
}

uint64_t floatBits(float value, MmaType type) {
  return type == MmaType::F16 ? f32ToF16(value)
                              : std::bit_cast<uint32_t>(value);
}

// c + sum over k of a[k] * b[k], as the floating-point contract has it: a chain
// of fused multiply-adds in order of k, in f32 for the narrow types; whole
// numbers wrap.
uint64_t chain(const MmaShape &shape, const double *a, const double *b,
               double c) {
  if (shape.c == MmaType::S32) {
    uint32_t sum = uint32_t(int32_t(c));
    for (uint32_t k = 0; k < shape.k; ++k)
      sum += uint32_t(int32_t(a[k]) * int32_t(b[k * shape.n]));
    return sum;
  }
  if (shape.c == MmaType::F64) {
    for (uint32_t k = 0; k < shape.k; ++k)
      c = std::fma(a[k], b[k * shape.n], c);
    return std::bit_cast<uint64_t>(c);
  }
  float sum = float(c);
  for (uint32_t k = 0; k < shape.k; ++k)
    sum = std::fma(float(a[k]), float(b[k * shape.n]), sum);
  return floatBits(sum, shape.d);
}

} // namespace

// PTX ISA, "ldmatrix": lane 8 * i + r has the address of row r of matrix i. A
// lane gets of each matrix the two elements 2 * thread and 2 * thread + 1 of
// row `group`, or of column `group` if the matrix is transposed.
void Block::loadMatrix(Warp &warp) {
  const Arrival &first = *laneOf(warp, 0).arrival;
  const uint32_t matrices = first.offset;
  const bool transposed = first.clamp;
  uint16_t elements[4][8][8];
  for (uint32_t i = 0; i < 8 * matrices; ++i) {
    Lane &lane = laneOf(warp, int(i));
    const void *row = reinterpret_cast<const void *>(lane.arrival->value);
    access(lane, row, 16, 4 | TESSERA_SIM_READ | TESSERA_SIM_SHARED,
           first.site);
    if (shared.contains(row, 16))
      std::memcpy(elements[i / 8][i % 8], row, 16);
    else
      std::memset(elements[i / 8][i % 8], 0xff, 16);
  }
  for (int lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < matrices; ++i) {
      const int group = lane / 4, pair = lane % 4 * 2;
      auto at = [&](int k) {
        return uint32_t(transposed ? elements[i][k][group]
                                   : elements[i][group][k]);
      };
      laneOf(warp, lane).arrival->result[i] = at(pair) | at(pair + 1) << 16;
    }
}

void Block::multiply(Warp &warp) {
  const MmaShape &shape = mmaShapes()[laneOf(warp, 0).arrival->kind];
  double a[kMostElements], b[kMostElements], c[16 * 8];
  const uint32_t aRegisters = MmaShape::registers(shape.fragmentA, shape.a);
  const uint32_t bRegisters = MmaShape::registers(shape.fragmentB, shape.b);
  auto gather = [&](const Fragment &fragment, MmaType type, uint32_t first,
                    uint32_t columns, double *matrix) {
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t i = 0; i < fragment.at.size(); ++i) {
        const Place at = fragment.place(lane, i);
        const uint32_t *registers = laneOf(warp, int(lane)).arrival->operands;
        matrix[at.row * columns + at.column] =
            numberOf(elementOf(registers + first, i, bitsOf(type)), type);
      }
  };
  gather(shape.fragmentA, shape.a, 0, shape.k, a);
  gather(shape.fragmentB, shape.b, aRegisters, shape.n, b);
  gather(shape.fragmentC, shape.c, aRegisters + bRegisters, shape.n, c);
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < shape.fragmentC.at.size(); ++i) {
      const Place at = shape.fragmentC.place(lane, i);
      setElement(laneOf(warp, int(lane)).arrival->result, i, bitsOf(shape.d),
                 chain(shape, a + at.row * shape.k, b + at.column,
                       c[at.row * shape.n + at.column]));
    }
}

} // namespace tessera::runtime::sim

using namespace tessera::runtime::sim;

static constexpr uint32_t kWholeWarp = ~0u;

void tessera_sim_load_matrix(tessera_sim_lane *self, const void *row,
                             uint32_t count, uint32_t transposed,
                             uint32_t *result, uint32_t site) {
  auto &lane = *static_cast<Lane *>(self);
  Arrival arrival{Collective::LoadMatrix, 0, kWholeWarp, site};
  arrival.aligned = true;
  arrival.value = reinterpret_cast<uintptr_t>(row);
  arrival.offset = count;
  arrival.clamp = transposed;
  arrival.result = result;
  lane.block->meet(lane, arrival);
}

void tessera_sim_mma(tessera_sim_lane *self, uint32_t shape,
                     const uint32_t *operands, uint32_t *result,
                     uint32_t site) {
  auto &lane = *static_cast<Lane *>(self);
  Arrival arrival{Collective::Mma, shape, kWholeWarp, site};
  arrival.aligned = true;
  arrival.operands = operands;
  arrival.result = result;
  lane.block->meet(lane, arrival);
}

uint32_t tessera_sim_f32_to_f16(float value) { return f32ToF16(value); }
uint32_t tessera_sim_f32_to_bf16(float value) { return f32ToBf16(value); }
float tessera_sim_f16_to_f32(uint32_t bits) { return f16ToF32(bits); }
float tessera_sim_bf16_to_f32(uint32_t bits) { return bf16ToF32(bits); }
uint32_t tessera_sim_f32_to_tf32(float value, uint32_t ties_away) {
  return f32ToTf32(value, ties_away);
}
