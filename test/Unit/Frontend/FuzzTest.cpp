// Random shapes and indices against plain loops over the elements.
#include "Support.h"

#include <random>

namespace tessera {
namespace {

class FuzzTest : public FrontendTest {
protected:
  int64_t below(int64_t bound) { return int64_t(random() % uint64_t(bound)); }

  Shape shape(int64_t rank, int64_t most = 4) {
    Shape result;
    for (int64_t i = 0; i < rank; ++i)
      result.push_back(1 + below(most));
    return result;
  }

  /// Integers, so that sums are exact.
  Tensor values(const Shape &shape) {
    std::vector<float> data;
    for (int64_t i = 0; i < shape.elements(); ++i)
      data.push_back(float(below(19) - 9));
    return Tensor::from(data, shape);
  }

  std::mt19937 random{7};
};

/// The element at a multi-index, with dimensions of size 1 repeated and missing
/// leading ones ignored.
float at(const Tensor &x, const std::vector<int64_t> &index) {
  int64_t offset = 0;
  size_t skip = index.size() - x.shape().size();
  for (size_t i = 0; i < x.shape().size(); ++i) {
    int64_t size = x.shape()[i];
    offset = offset * size + (size == 1 ? 0 : index[skip + i]);
  }
  return x.span<float>()[size_t(offset)];
}

/// Calls f with every index of a shape, in row-major order.
template <typename F> void forEachIndex(const Shape &shape, F f) {
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t n = shape.elements(); n > 0; --n) {
    f(index);
    for (size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i])
        break;
      index[i] = 0;
    }
  }
}

TEST_F(FuzzTest, Broadcasting) {
  for (int round = 0; round < 60; ++round) {
    Shape full = shape(below(5));
    auto part = [&] {
      Shape result(full.begin() + below(int64_t(full.size()) + 1), full.end());
      for (int64_t &dim : result)
        if (below(3) == 0)
          dim = 1;
      return result;
    };
    Tensor x = values(full), y = values(part());
    Tensor z = below(2) ? x - y : -(y - x);
    ASSERT_EQ(z.shape(), full);
    std::vector<float> expected;
    forEachIndex(full, [&](const std::vector<int64_t> &i) {
      expected.push_back(at(x, i) - at(y, i));
    });
    expectValues<float>(z, expected);
  }
}

TEST_F(FuzzTest, Permutations) {
  for (int round = 0; round < 40; ++round) {
    Tensor x = values(shape(1 + below(4)));
    Shape axes;
    for (int64_t i = 0; i < x.ndim(); ++i)
      axes.push_back(i);
    std::shuffle(axes.begin(), axes.end(), random);
    Tensor y = permute_dims(x, axes);
    std::vector<float> expected;
    forEachIndex(y.shape(), [&](const std::vector<int64_t> &i) {
      std::vector<int64_t> from(i.size());
      for (size_t d = 0; d < i.size(); ++d)
        from[size_t(axes[d])] = i[d];
      expected.push_back(at(x, from));
    });
    expectValues<float>(y, expected);
  }
}

TEST_F(FuzzTest, Slices) {
  for (int round = 0; round < 150; ++round) {
    Tensor x = values(shape(1 + below(3), 6));
    if (below(2))
      x = x + 0.f; // recorded, so not a view
    std::vector<Index> items;
    std::vector<std::vector<int64_t>> positions;
    Shape kept;
    for (int64_t d = 0; d < x.ndim(); ++d) {
      int64_t size = x.shape(d);
      if (below(3) == 0) {
        int64_t i = below(2 * size) - size;
        items.push_back(i);
        positions.push_back({i < 0 ? i + size : i});
        continue;
      }
      auto bound = [&]() -> std::optional<int64_t> {
        if (below(3) == 0)
          return none;
        return below(2 * size + 4) - size - 2;
      };
      int64_t step = below(2) ? 1 + below(3) : -1 - below(3);
      Slice s{bound(), bound(), step};
      items.push_back(s);
      // The rules of Python, one position after the other.
      auto clamp = [&](std::optional<int64_t> given, int64_t otherwise) {
        if (!given)
          return otherwise;
        int64_t at = *given < 0 ? *given + size : *given;
        return std::clamp<int64_t>(at, step > 0 ? 0 : -1,
                                   step > 0 ? size : size - 1);
      };
      std::vector<int64_t> list;
      int64_t stop = clamp(s.stop, step > 0 ? size : -1);
      for (int64_t i = clamp(s.start, step > 0 ? 0 : size - 1);
           step > 0 ? i < stop : i > stop; i += step)
        list.push_back(i);
      kept.push_back(int64_t(list.size()));
      positions.push_back(list);
    }
    Tensor y = x.index(std::span<const Index>(items));
    ASSERT_EQ(y.shape(), kept);
    Shape counts;
    for (auto &list : positions)
      counts.push_back(int64_t(list.size()));
    std::vector<float> expected;
    forEachIndex(counts, [&](const std::vector<int64_t> &i) {
      std::vector<int64_t> from;
      for (size_t d = 0; d < i.size(); ++d)
        from.push_back(positions[d][size_t(i[d])]);
      expected.push_back(at(x, from));
    });
    expectValues<float>(y, expected);

    // Writing to the same elements, and reading them back.
    Tensor written = x.set(std::span<const Index>(items), 50.f);
    for (float value :
         written.index(std::span<const Index>(items)).to_vector<float>())
      EXPECT_EQ(value, 50);
    double change = (sum(written) - sum(x)).item<double>();
    EXPECT_EQ(change, 50 * double(y.size()) - sum(y).item<double>());
    Tensor added = x.add_at(std::span<const Index>(items), 2.f);
    EXPECT_EQ((sum(added) - sum(x)).item<double>(), 2.0 * double(y.size()));
  }
}

TEST_F(FuzzTest, Reductions) {
  for (int round = 0; round < 40; ++round) {
    Tensor x = values(shape(1 + below(3)));
    std::vector<int64_t> axes;
    Shape kept;
    for (int64_t d = 0; d < x.ndim(); ++d)
      if (below(2))
        axes.push_back(d);
    for (int64_t d = 0; d < x.ndim(); ++d)
      kept.push_back(std::count(axes.begin(), axes.end(), d) ? 1 : x.shape(d));
    Tensor y = sum(x, axes, true), m = max(x, axes, true);
    ASSERT_EQ(y.shape(), kept);
    std::vector<float> sums(size_t(kept.elements()), 0);
    std::vector<float> largest(sums.size(), -100);
    forEachIndex(x.shape(), [&](const std::vector<int64_t> &i) {
      size_t to = 0;
      for (size_t d = 0; d < i.size(); ++d)
        to = to * size_t(kept[d]) + size_t(kept[d] == 1 ? 0 : i[d]);
      sums[to] += at(x, i);
      largest[to] = std::max(largest[to], at(x, i));
    });
    expectValues<float>(y, sums);
    expectValues<float>(m, largest);
  }
}

TEST_F(FuzzTest, Einsums) {
  for (int round = 0; round < 60; ++round) {
    const std::string letters = "abcd";
    int64_t sizes[4];
    for (int64_t &size : sizes)
      size = 1 + below(3);
    auto term = [&] {
      std::string labels;
      for (char letter : letters)
        if (below(2))
          labels += letter;
      std::shuffle(labels.begin(), labels.end(), random);
      return labels;
    };
    std::string a = term(), b = term(), out;
    for (char letter : letters)
      if ((a + b).find(letter) != std::string::npos && below(2))
        out += letter;
    std::shuffle(out.begin(), out.end(), random);
    auto tensorFor = [&](const std::string &labels) {
      Shape shape;
      for (char letter : labels)
        shape.push_back(sizes[letter - 'a']);
      return values(shape);
    };
    Tensor x = tensorFor(a), y = tensorFor(b);
    Tensor z = einsum(a + "," + b + "->" + out, {x, y});
    Shape all(sizes, sizes + 4), result;
    for (char letter : out)
      result.push_back(sizes[letter - 'a']);
    ASSERT_EQ(z.shape(), result);
    std::vector<float> expected(size_t(result.elements()), 0);
    // Labels that no operand has would repeat every product.
    for (size_t l = 0; l < 4; ++l)
      if ((a + b).find(letters[l]) == std::string::npos)
        all[l] = 1;
    forEachIndex(all, [&](const std::vector<int64_t> &i) {
      auto pick = [&](const std::string &labels) {
        std::vector<int64_t> index;
        for (char letter : labels)
          index.push_back(i[size_t(letter - 'a')]);
        return index;
      };
      size_t to = 0;
      for (char letter : out)
        to = to * size_t(sizes[letter - 'a']) + size_t(i[size_t(letter - 'a')]);
      expected[to] += at(x, pick(a)) * at(y, pick(b));
    });
    EXPECT_EQ(z.to_vector<float>(), expected) << a << "," << b << "->" << out;
  }
}

/// Random programs give the same values and gradients however they are cut by
/// evaluations of what keeps its history.
TEST_F(FuzzTest, EvaluationsDoNotChangeGradients) {
  for (int round = 0; round < 25; ++round) {
    auto run = [&](bool evaluates, uint32_t seed) {
      std::mt19937 steps(seed);
      Tensor w = tensor({0.5, -0.25, 0.75}, f64);
      w.requires_grad(true);
      std::vector<Tensor> known{w, tensor({1.0, 2.0, 3.0}, f64)};
      for (int i = 0; i < 12; ++i) {
        auto any = [&] { return known[steps() % known.size()]; };
        Tensor x = any(), y = any();
        switch (steps() % 5) {
        case 0:
          known.push_back(x + y);
          break;
        case 1:
          known.push_back(tanh(x) * y);
          break;
        case 2:
          known.push_back(x - sum(y) * 0.1);
          break;
        case 3:
          known.push_back(where(x > y, x, y * 0.5));
          break;
        default:
          known.push_back(softmax(x));
        }
        bool now = steps() % 3 == 0;
        if (evaluates && now)
          known.back().eval();
      }
      Tensor loss = sum(w);
      for (const Tensor &x : known)
        loss = loss + mean(x * x);
      loss.backward();
      std::vector<double> result = w.grad().to_vector<double>();
      result.push_back(loss.item<double>());
      return result;
    };
    uint32_t seed = uint32_t(random());
    EXPECT_EQ(run(false, seed), run(true, seed)) << "seed " << seed;
  }
}

} // namespace
} // namespace tessera
