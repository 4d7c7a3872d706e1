// What may stand in an index: integers, slices, ellipsis, newaxis, masks.
#pragma once

#include "tessera/Tensor.h"

#include <concepts>

namespace tessera {

/// A range of positions, with the rules of Python.
struct Slice {
  std::optional<int64_t> start, stop, step;
};

/// The positions before `stop`.
inline Slice slice(std::optional<int64_t> stop) { return {{}, stop, {}}; }
/// The positions from `start` to before `stop`, `step` apart; `none` is the
/// default of each. Negative positions count from the end.
inline Slice slice(std::optional<int64_t> start, std::optional<int64_t> stop,
                   std::optional<int64_t> step = none) {
  return {start, stop, step};
}

struct Ellipsis {};
/// All dimensions that an index does not name.
inline constexpr Ellipsis ellipsis;

struct NewAxis {};
/// A new dimension of size 1.
inline constexpr NewAxis newaxis;

/// One item of an index, and the place of the call.
class Index {
public:
  enum class Kind : uint8_t { Integer, Slice, Ellipsis, NewAxis, Tensor };

  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  Index(Integer position,
        std::source_location place = std::source_location::current())
      : theKind(Kind::Integer), thePosition(int64_t(position)),
        thePlace(place) {}
  Index(const Slice &slice,
        std::source_location place = std::source_location::current())
      : theKind(Kind::Slice), theSlice(slice), thePlace(place) {}
  Index(Ellipsis, std::source_location place = std::source_location::current())
      : theKind(Kind::Ellipsis), thePlace(place) {}
  Index(NewAxis, std::source_location place = std::source_location::current())
      : theKind(Kind::NewAxis), thePlace(place) {}
  /// An integer tensor without dimensions is a position, kept inside the
  /// dimension; a tensor of bools is a mask.
  Index(const Tensor &tensor,
        std::source_location place = std::source_location::current())
      : theKind(Kind::Tensor), theTensor(tensor), thePlace(place) {}

  Kind kind() const { return theKind; }
  int64_t position() const { return thePosition; }
  const Slice &slice() const { return theSlice; }
  const Tensor &tensor() const { return theTensor; }
  std::source_location place() const { return thePlace; }

private:
  Kind theKind;
  int64_t thePosition = 0;
  Slice theSlice;
  Tensor theTensor;
  std::source_location thePlace;
};

} // namespace tessera
