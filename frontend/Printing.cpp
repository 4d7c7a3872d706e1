// How tensors are printed: nested brackets, columns aligned.
#include "frontend/Devices.h"
#include "frontend/Elements.h"
#include "frontend/Evaluate.h"
#include "frontend/Recording.h"

namespace tessera {
using namespace detail;

namespace {
/// Of a dimension longer than this, only the ends are shown if the tensor is
/// large.
constexpr int64_t kEdge = 3, kLarge = 1000;

class Printer {
public:
  Printer(std::ostream &os, const Tensor &tensor, const void *data)
      : os(os), shape(tensor.shape()), dtype(tensor.dtype()), data(data),
        shorten(tensor.size() > kLarge) {}

  void print() {
    if (shape.empty()) {
      os << elementText(data, dtype, 0);
      return;
    }
    forEachShown(0, 0, [&](int64_t i) {
      width = std::max(width, elementText(data, dtype, i).size());
    });
    printFrom(0, 0);
  }

private:
  bool isHidden(size_t level, int64_t i) const {
    return shorten && shape[level] > 2 * kEdge && i >= kEdge &&
           i < shape[level] - kEdge;
  }

  template <typename F> void forEachShown(size_t level, int64_t offset, F f) {
    for (int64_t i = 0; i < shape[level]; ++i) {
      if (isHidden(level, i))
        continue;
      if (level + 1 == shape.size())
        f(offset + i);
      else
        forEachShown(level + 1, (offset + i) * shape[level + 1], f);
    }
  }

  void printFrom(size_t level, int64_t offset) {
    os << '[';
    for (int64_t i = 0; i < shape[level]; ++i) {
      if (i > 0)
        separate(level);
      if (isHidden(level, i)) {
        os << "...";
        i = shape[level] - kEdge - 1;
      } else if (level + 1 == shape.size()) {
        std::string text = elementText(data, dtype, offset + i);
        os << std::string(width - text.size(), ' ') << text;
      } else {
        printFrom(level + 1, (offset + i) * shape[level + 1]);
      }
    }
    os << ']';
  }

  void separate(size_t level) {
    size_t below = shape.size() - level - 1;
    if (below == 0)
      os << ", ";
    else
      os << ',' << std::string(below, '\n') << std::string(level + 1, ' ');
  }

  std::ostream &os;
  const Shape &shape;
  DType dtype;
  const void *data;
  bool shorten;
  size_t width = 0;
};
} // namespace

std::ostream &operator<<(std::ostream &os, const Printed &printed) {
  if (!printed.tensor.defined())
    return os << "(empty tensor)";
  runtime::Storage storage =
      bytesOn(storageOf(printed.tensor, "print", printed.place), Device(),
              "print", printed.place);
  Printer(os, printed.tensor, storage.data()).print();
  return os;
}

} // namespace tessera
