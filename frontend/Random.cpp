// Random numbers composed of random words and elementwise ops.
#include "tessera/Random.h"

#include "frontend/Recording.h"
#include "tessera/Creation.h"
#include "tessera/Elementwise.h"
#include "tessera/Manipulation.h"
#include "tessera/Reduction.h"
#include "tessera/Scope.h"

#include <atomic>

namespace tessera::random {

using namespace detail;

static Key fromWords(uint32_t a, uint32_t b) {
  const int32_t words[] = {int32_t(a), int32_t(b)};
  return Key(Tensor::from(words, {2}));
}

Key key(uint64_t seed) {
  return fromWords(uint32_t(seed), uint32_t(seed >> 32));
}

/// Random words of a shape.
static Tensor bits(const Key &key, const Shape &shape,
                   std::source_location place) {
  Recording r("random", place, {&key.words()});
  return r.finish(
      r.create<ir::RandomBitsOp>(r.type(i32, shape), r.value(key.words())));
}

std::array<Key, 2> split(const Key &key, std::source_location place) {
  LocationScope scope(place);
  // The last words of a long stream are out of the way of short ones.
  Tensor words = bits(key, {1 << 20, 4}, place);
  Tensor last = words[-1];
  return {Key(last.index(slice(0, 2))), Key(last.index(slice(2, 4)))};
}

/// Whole numbers in [0, 2^24) as f32.
static Tensor fraction24(const Key &key, const Shape &shape,
                         std::source_location place) {
  return bitwise_and(Operand(bits(key, shape, place), place), 0xFFFFFF)
      .astype(f32, place);
}

Tensor uniform(const Key &key, const Shape &shape, const Operand &low,
               const Operand &high) {
  LocationScope scope(low.place());
  Tensor unit = fraction24(key, shape, low.place()) * 0x1p-24f;
  return low + unit * (high - low);
}

Tensor normal(const Key &key, const Shape &shape, std::source_location place) {
  LocationScope scope(place);
  Shape pairs{2};
  for (int64_t size : shape)
    pairs.push_back(size);
  Tensor both = fraction24(key, pairs, place);
  // The first is in (0, 1], so that its logarithm is finite.
  Tensor radius = sqrt(log((both[0] + 1.f) * 0x1p-24f) * -2.f);
  return radius * cos(both[1] * float(0x1p-24 * 6.283185307179586));
}

Tensor bernoulli(const Key &key, const Operand &p, const Shape &shape) {
  LocationScope scope(p.place());
  return less(uniform(key, shape), p);
}

Tensor randint(const Key &key, const Shape &shape, int32_t low, int32_t high,
               std::source_location place) {
  LocationScope scope(place);
  if (low >= high)
    throw ValueError(errorPlace(place), "randint", "the range is empty");
  double range = double(high) - double(low);
  Tensor scaled = uniform(key, shape).astype(f64) * range;
  return (scaled.astype(i64) + int64_t(low)).astype(i32);
}

Tensor categorical(const Key &key, const Operand &logits) {
  LocationScope scope(logits.place());
  Tensor x = logits.tensor();
  // The maximum of logits with Gumbel noise is where their softmax points.
  Tensor u = (fraction24(key, x.shape(), logits.place()) + 0.5f) * 0x1p-24f;
  return argmax(x - log(-log(u)), -1);
}

//===-- The process's keys --===//

static std::atomic<uint64_t> theSeed{0}, nextKey{0};

void seed(uint64_t seed) {
  theSeed = seed;
  nextKey = 0;
}

Key next_key() {
  uint64_t mixed = theSeed * 0x9E3779B97F4A7C15u + nextKey++;
  return fromWords(uint32_t(mixed), uint32_t(mixed >> 32));
}

} // namespace tessera::random
