// Philox 4x32-10, a counter-based generator. Source: Salmon et al., "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011.
#ifndef TESSERA_LOWERING_REFERENCE_PHILOX_H
#define TESSERA_LOWERING_REFERENCE_PHILOX_H

#include <array>
#include <cstdint>

namespace tessera::lowering::reference {

/// The block of four words for a counter and a key.
inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53) * counter[0],
             p1 = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(p1 >> 32) ^ counter[1] ^ key[0], uint32_t(p1),
               uint32_t(p0 >> 32) ^ counter[3] ^ key[1], uint32_t(p0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

} // namespace tessera::lowering::reference

#endif
