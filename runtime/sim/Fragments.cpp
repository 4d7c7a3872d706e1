// The tables of the PTX ISA, chapter "Warp Level Matrix Multiply-Accumulate
// Instructions", sections "Matrix Fragments for mma.*".
#include "runtime/sim/Fragments.h"

#include <vector>

namespace tessera::runtime::sim {

namespace {

// Offsets of a lane's elements, by the names that the formulas below give them.
constexpr Place kOne[] = {{0, 0}};
constexpr Place kPairInRow[] = {{0, 0}, {0, 1}};
constexpr Place kPairInColumn[] = {{0, 0}, {1, 0}};
constexpr Place kTwoRows[] = {{0, 0}, {8, 0}};
constexpr Place kTwoByPair[] = {{0, 0}, {0, 1}, {8, 0}, {8, 1}};
constexpr Place kFourByPair[] = {{0, 0}, {0, 1}, {8, 0}, {8, 1},
                                 {0, 8}, {0, 9}, {8, 8}, {8, 9}};
constexpr Place kTwoPairsInColumn[] = {{0, 0}, {1, 0}, {8, 0}, {9, 0}};
constexpr Place kTwoRowsTwoColumns[] = {{0, 0}, {8, 0}, {0, 4}, {8, 4}};
constexpr Place kFourApart[] = {{0, 0}, {4, 0}};
constexpr Place kQuadInRow[] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};
constexpr Place kQuadInColumn[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
constexpr Place kTwoQuadsInRow[] = {{0, 0}, {0, 1}, {0, 2}, {0, 3},
                                    {8, 0}, {8, 1}, {8, 2}, {8, 3}};
constexpr Place kFourQuads[] = {
    {0, 0},  {0, 1},  {0, 2},  {0, 3},  {8, 0},  {8, 1},  {8, 2},  {8, 3},
    {0, 16}, {0, 17}, {0, 18}, {0, 19}, {8, 16}, {8, 17}, {8, 18}, {8, 19}};
constexpr Place kTwoQuadsInColumn[] = {{0, 0},  {1, 0},  {2, 0},  {3, 0},
                                       {16, 0}, {17, 0}, {18, 0}, {19, 0}};

// Accumulators of m16n8 and m8n8: row = group (+8), column = 2 * thread (+1).
constexpr Fragment kC16{1, 0, 0, 2, kTwoByPair};
constexpr Fragment kC8{1, 0, 0, 2, kPairInRow};

std::vector<MmaShape> makeShapes() {
  using enum MmaType;
  std::vector<MmaShape> shapes;
  // "Matrix Fragments for mma.m16n8k8" and "mma.m16n8k16 with floating point
  // type": A has row = group (+8), column = 2 * thread (+1, +8, +9); B has
  // row = 2 * thread (+1, +8, +9), column = group.
  auto addHalf = [&](MmaType type, MmaType c, MmaType d) {
    shapes.push_back({16,
                      8,
                      8,
                      type,
                      type,
                      c,
                      d,
                      {1, 0, 0, 2, kTwoByPair},
                      {0, 2, 1, 0, kPairInColumn},
                      kC16});
    shapes.push_back({16,
                      8,
                      16,
                      type,
                      type,
                      c,
                      d,
                      {1, 0, 0, 2, kFourByPair},
                      {0, 2, 1, 0, kTwoPairsInColumn},
                      kC16});
  };
  for (MmaType c : {F32, F16})
    for (MmaType d : {F32, F16})
      addHalf(F16, c, d);
  addHalf(BF16, F32, F32);
  // "mma.m16n8k4" and "mma.m16n8k8" with .tf32: A has row = group (+8), column
  // = thread (+4); B has row = thread (+4), column = group.
  shapes.push_back({16,
                    8,
                    4,
                    TF32,
                    TF32,
                    F32,
                    F32,
                    {1, 0, 0, 1, kTwoRows},
                    {0, 1, 1, 0, kOne},
                    kC16});
  shapes.push_back({16,
                    8,
                    8,
                    TF32,
                    TF32,
                    F32,
                    F32,
                    {1, 0, 0, 1, kTwoRowsTwoColumns},
                    {0, 1, 1, 0, kFourApart},
                    kC16});
  // "mma.m8n8k4 with .f64": A has row = group, column = thread; B the reverse.
  shapes.push_back({8,
                    8,
                    4,
                    F64,
                    F64,
                    F64,
                    F64,
                    {1, 0, 0, 1, kOne},
                    {0, 1, 1, 0, kOne},
                    kC8});
  // "mma.m8n8k16", "mma.m16n8k16 with integer type" and "mma.m16n8k32": A has
  // row = group (+8), column = 4 * thread + i (+16); B the reverse.
  for (MmaType a : {S8, U8})
    for (MmaType b : {S8, U8}) {
      shapes.push_back({8,
                        8,
                        16,
                        a,
                        b,
                        S32,
                        S32,
                        {1, 0, 0, 4, kQuadInRow},
                        {0, 4, 1, 0, kQuadInColumn},
                        kC8});
      shapes.push_back({16,
                        8,
                        16,
                        a,
                        b,
                        S32,
                        S32,
                        {1, 0, 0, 4, kTwoQuadsInRow},
                        {0, 4, 1, 0, kQuadInColumn},
                        kC16});
      shapes.push_back({16,
                        8,
                        32,
                        a,
                        b,
                        S32,
                        S32,
                        {1, 0, 0, 4, kFourQuads},
                        {0, 4, 1, 0, kTwoQuadsInColumn},
                        kC16});
    }
  return shapes;
}

} // namespace

std::span<const MmaShape> mmaShapes() {
  static const auto *shapes = new std::vector<MmaShape>(makeShapes());
  return *shapes;
}

int findMmaShape(uint32_t m, uint32_t n, uint32_t k, MmaType a, MmaType b,
                 MmaType c, MmaType d) {
  auto shapes = mmaShapes();
  for (size_t i = 0; i < shapes.size(); ++i) {
    const MmaShape &s = shapes[i];
    if (s.m == m && s.n == n && s.k == k && s.a == a && s.b == b && s.c == c &&
        s.d == d)
      return int(i);
  }
  return -1;
}

} // namespace tessera::runtime::sim
