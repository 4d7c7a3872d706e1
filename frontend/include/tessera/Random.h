// Random numbers as functions of a key: the same key gives the same numbers.
// The generator is Philox 4x32-10 (Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3", SC 2011).
#pragma once

#include "tessera/Tensor.h"

#include <array>

namespace tessera::random {

/// What determines random numbers: two words, i32[2].
class Key {
public:
  explicit Key(Tensor words) : theWords(std::move(words)) {}
  const Tensor &words() const { return theWords; }

private:
  Tensor theWords;
};

/// The key of a seed.
Key key(uint64_t seed);
/// Two keys, independent of each other and of the given one, which should not
/// be used any more.
std::array<Key, 2>
split(const Key &key,
      std::source_location place = std::source_location::current());

/// Uniform in [low, high), of dtype f32.
Tensor uniform(const Key &key, const Shape &shape, const Operand &low = 0.f,
               const Operand &high = 1.f);
/// Normal with mean 0 and standard deviation 1, of dtype f32 (Box and Muller,
/// "A note on the generation of random normal deviates", 1958).
Tensor normal(const Key &key, const Shape &shape,
              std::source_location place = std::source_location::current());
/// True with probability `p`.
Tensor bernoulli(const Key &key, const Operand &p, const Shape &shape);
/// Whole numbers in [low, high), of dtype i32. Throws ValueError for an empty
/// range. Uniform up to 2^-24.
Tensor randint(const Key &key, const Shape &shape, int32_t low, int32_t high,
               std::source_location place = std::source_location::current());
/// Positions along the last axis with probabilities softmax(logits), one for
/// each of the other axes' elements, of dtype i64.
Tensor categorical(const Key &key, const Operand &logits);

/// Sets the seed of next_key(), which layers use for their first parameters.
void seed(uint64_t seed);
/// A new key at each call, in an order that the seed determines.
Key next_key();

} // namespace tessera::random
