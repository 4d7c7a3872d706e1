// A list that takes no memory of its own while it is short.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tessera::detail {

/// Up to N trivial items lie in the list itself.
template <typename T, size_t N> class InlineList {
public:
  void push_back(T item) {
    if (count < N) {
      few[count++] = item;
      return;
    }
    if (count == N)
      more.assign(few, few + N);
    more.push_back(item);
    ++count;
  }
  size_t size() const { return count; }
  std::span<const T> items() const {
    return {count > N ? more.data() : few, count};
  }
  T operator[](size_t i) const { return items()[i]; }
  T back() const { return items().back(); }

private:
  T few[N];
  size_t count = 0;
  std::vector<T> more;
};

} // namespace tessera::detail
