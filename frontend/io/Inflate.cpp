// Decompression of the DEFLATE format, after RFC 1951.
#include "frontend/io/Inflate.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace tessera::io {

namespace {

constexpr int maxLength = 15; ///< of a code, in bits

/// A prefix code, of which RFC 1951 transmits the lengths only: codes of one
/// length are consecutive numbers, in the order of their symbols (3.2.2).
class PrefixCode {
public:
  /// False for lengths that no code has.
  bool build(std::span<const uint8_t> lengths) {
    counts.fill(0);
    for (uint8_t length : lengths)
      ++counts[length];
    counts[0] = 0;
    std::array<uint16_t, maxLength + 2> next{};
    int left = 1; // codes of this length that are still free
    for (int length = 1; length <= maxLength; ++length) {
      left = 2 * left - counts[size_t(length)];
      if (left < 0)
        return false;
      next[size_t(length) + 1] =
          uint16_t(next[size_t(length)] + counts[size_t(length)]);
    }
    for (size_t symbol = 0; symbol < lengths.size(); ++symbol)
      if (lengths[symbol])
        symbols[next[lengths[symbol]]++] = uint16_t(symbol);
    return true;
  }

  std::array<uint16_t, maxLength + 1> counts{};
  std::array<uint16_t, 288> symbols{};
};

class Inflater {
public:
  Inflater(std::span<const std::byte> from, std::span<std::byte> to)
      : from(from), to(to) {}

  bool run() {
    bool isLast = false;
    while (!isLast && isGood) {
      isLast = bits(1);
      switch (bits(2)) {
      case 0:
        storedBlock();
        break;
      case 1:
        fixedBlock();
        break;
      case 2:
        dynamicBlock();
        break;
      default:
        isGood = false;
      }
    }
    return isGood && written == to.size();
  }

private:
  /// The next bits, the first of which is the lowest.
  uint32_t bits(int count) {
    while (held < count) {
      if (position == from.size()) {
        isGood = false;
        return 0;
      }
      buffer |= uint64_t(from[position++]) << held;
      held += 8;
    }
    auto value = uint32_t(buffer & ((uint64_t(1) << count) - 1));
    buffer >>= count;
    held -= count;
    return value;
  }

  /// The next symbol, bit by bit: `first` is the first code of a length, and
  /// `index` that code's place among the symbols.
  unsigned symbol(const PrefixCode &code) {
    int value = 0, first = 0, index = 0;
    for (int length = 1; length <= maxLength && isGood; ++length) {
      value |= int(bits(1));
      int count = code.counts[size_t(length)];
      if (value - first < count)
        return code.symbols[size_t(index + value - first)];
      index += count;
      first = (first + count) << 1;
      value <<= 1;
    }
    isGood = false;
    return 0;
  }

  void storedBlock() {
    buffer = 0; // the rest of the byte is unused
    position -= size_t(held / 8);
    held = 0;
    uint32_t length = bits(16), complement = bits(16);
    if (!isGood || length != (complement ^ 0xffff) ||
        length > from.size() - position || length > to.size() - written) {
      isGood = false;
      return;
    }
    std::memcpy(to.data() + written, from.data() + position, length);
    position += length;
    written += length;
  }

  void fixedBlock() {
    std::array<uint8_t, 288> lengths;
    for (size_t i = 0; i < lengths.size(); ++i)
      lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    std::array<uint8_t, 30> distances;
    distances.fill(5);
    codes(lengths, distances);
  }

  void dynamicBlock() {
    static constexpr uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                        11, 4,  12, 3, 13, 2, 14, 1, 15};
    size_t literals = bits(5) + 257, distances = bits(5) + 1,
           meta = bits(4) + 4;
    std::array<uint8_t, 19> metaLengths{};
    for (size_t i = 0; i < meta; ++i)
      metaLengths[order[i]] = uint8_t(bits(3));
    PrefixCode code;
    if (!isGood || literals > 286 || distances > 30 ||
        !code.build(metaLengths)) {
      isGood = false;
      return;
    }
    std::array<uint8_t, 286 + 30> lengths{};
    for (size_t i = 0; i < literals + distances;) {
      unsigned next = symbol(code), times = 1;
      uint8_t value = uint8_t(next);
      if (next == 16) {
        isGood = isGood && i > 0;
        value = i > 0 ? lengths[i - 1] : 0;
        times = 3 + bits(2);
      } else if (next > 16) {
        value = 0;
        times = next == 17 ? 3 + bits(3) : 11 + bits(7);
      }
      if (!isGood || times > literals + distances - i) {
        isGood = false;
        return;
      }
      while (times--)
        lengths[i++] = value;
    }
    codes(std::span(lengths).first(literals),
          std::span(lengths).subspan(literals, distances));
  }

  /// The body of a block: literals, and copies of what was written before.
  void codes(std::span<const uint8_t> literalLengths,
             std::span<const uint8_t> distanceLengths) {
    PrefixCode literals, distances;
    isGood = isGood && literals.build(literalLengths) &&
             distances.build(distanceLengths);
    while (isGood) {
      unsigned next = symbol(literals);
      if (!isGood || next == 256)
        return;
      if (next < 256) {
        if (written == to.size())
          isGood = false;
        else
          to[written++] = std::byte(next);
        continue;
      }
      size_t length = copyLength(next - 257);
      size_t distance = copyDistance(symbol(distances));
      if (!isGood || distance > written || length > to.size() - written) {
        isGood = false;
        return;
      }
      for (; length > 0; --length, ++written)
        to[written] = to[written - distance];
    }
  }

  // The tables of RFC 1951, 3.2.5, by their rule: each group of codes has one
  // more extra bit than the one before.
  size_t copyLength(unsigned code) {
    if (code < 8)
      return 3 + code;
    if (code >= 28) {
      isGood = isGood && code == 28;
      return 258;
    }
    unsigned extra = code / 4 - 1;
    return 3 + ((4 + code % 4) << extra) + bits(int(extra));
  }

  size_t copyDistance(unsigned code) {
    if (code < 4)
      return 1 + code;
    if (code >= 30) {
      isGood = false;
      return 1;
    }
    unsigned extra = code / 2 - 1;
    return 1 + (size_t(2 + code % 2) << extra) + bits(int(extra));
  }

  std::span<const std::byte> from;
  std::span<std::byte> to;
  size_t position = 0, written = 0;
  uint64_t buffer = 0;
  int held = 0;
  bool isGood = true;
};

} // namespace

bool inflate(std::span<const std::byte> from, std::span<std::byte> to) {
  return Inflater(from, to).run();
}

} // namespace tessera::io
