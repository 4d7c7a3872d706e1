// Derivatives of recorded values and of functions.
#pragma once

#include "tessera/Creation.h"
#include "tessera/Tree.h"

namespace tessera {

// Of recorded values

/// The derivative of a scalar with respect to tensors that it was computed
/// from. Throws ValueError for a tensor that it never depended on, and
/// TraceError where an evaluation has cut the path, naming the evaluation.
Tensor grad(const Operand &loss, const Tensor &w);
std::vector<Tensor> grad(const Operand &loss, std::span<const Tensor> ws);
inline std::vector<Tensor> grad(const Operand &loss,
                                const std::vector<Tensor> &ws) {
  return grad(loss, std::span<const Tensor>(ws));
}
template <std::same_as<Tensor>... Rest>
  requires(sizeof...(Rest) > 0)
std::array<Tensor, 1 + sizeof...(Rest)>
grad(const Operand &loss, const Tensor &w, const Rest &...rest) {
  const Tensor ws[] = {w, rest...};
  std::vector<Tensor> grads = grad(loss, std::span<const Tensor>(ws));
  std::array<Tensor, 1 + sizeof...(Rest)> result;
  std::move(grads.begin(), grads.end(), result.begin());
  return result;
}

// The machinery of transforms

namespace detail {

/// A transform at work: while it traces, values that depend on its inputs have
/// no elements, and once it ends only its results may be used.
class Transform {
public:
  /// Marks copies of `inputs` as traced; with `stand`, fresh values that stand
  /// for them, and what is written to variables stays in `cells()`.
  Transform(const char *name, std::source_location place,
            std::span<const Tensor> inputs, bool stand = false);
  ~Transform();
  Transform(const Transform &) = delete;

  const std::vector<Tensor> &inputs() const { return traced; }
  /// The variables as the function sees them.
  CellScope &cells() { return scope; }
  /// A traced value of the type of `value`.
  Tensor standFor(const Tensor &value);
  /// The derivative of a scalar for each input, zeros where there is none.
  std::vector<Tensor> gradients(const Tensor &loss);
  /// The change of outputs with the inputs in a direction.
  std::vector<Tensor> forward(std::span<const Tensor> outputs,
                              std::span<const Tensor> tangents);
  /// What the inputs contribute to outputs: the gradients of the inputs as a
  /// program of `cotangents()`, which stand for values that come later.
  std::vector<Tensor> backward(std::span<const Tensor> outputs);
  const std::vector<Tensor> &cotangents() const { return placeholders; }
  /// Ends the tracing; `results` may be used from now on, and what was written
  /// to variables takes effect.
  void end(std::span<const Tensor> results);

private:
  void close(std::span<const Tensor> results);

  CellScope scope;
  bool stand;
  const char *name;
  std::source_location place;
  std::vector<Tensor> traced, placeholders;
  uint32_t frame = 0;
};

/// A program recorded once, from placeholders to results, and repeated for
/// other values.
class Replay {
public:
  Replay(const char *name, std::vector<Tensor> placeholders,
         std::vector<Tensor> results)
      : name(name), placeholders(std::move(placeholders)),
        results(std::move(results)) {}
  std::vector<Tensor> operator()(std::span<const Tensor> values,
                                 std::source_location place) const;

private:
  const char *name;
  std::vector<Tensor> placeholders, results;
};

/// The unit vectors of a tensor's space, in the shape of the tensor.
std::vector<Tensor> basis(const Tensor &like, std::source_location place);
/// Stacks a derivative for each element of a tensor along that tensor's
/// dimensions: the last ones (of `result`), or the first.
Tensor assemble(std::span<const Tensor> columns, const Shape &shape, bool last,
                std::source_location place);
/// Throws ValueError with a text unless `holds`.
void check(bool holds, const char *text, const char *name,
           std::source_location place);
inline constexpr char kNoValue[] = "the function returns no tensor";

/// A number given for a tensor becomes one.
template <typename T> auto asTree(T &&value) {
  if constexpr (std::is_arithmetic_v<Plain<T>>)
    return Tensor(value);
  else
    return Plain<T>(std::forward<T>(value));
}

template <typename T> struct IsTuple : std::false_type {};
template <typename... Ts> struct IsTuple<std::tuple<Ts...>> : std::true_type {};

/// One element of a tuple for itself, several as they are.
template <typename... Ts> auto unpack(std::tuple<Ts...> values) {
  if constexpr (sizeof...(Ts) == 1)
    return std::get<0>(std::move(values));
  else
    return values;
}

} // namespace detail

// Of functions

/// Which arguments are differentiated.
template <size_t N> struct argnums {
  std::array<size_t, N> positions;
};
template <typename... Integers>
argnums(Integers...) -> argnums<sizeof...(Integers)>;

namespace detail {

/// value_and_grad for the first argument, a tree.
template <typename F, typename... Args>
auto differentiate(const F &f, std::source_location place, Args &&...args) {
  std::tuple inputs(asTree(std::forward<Args>(args))...);
  auto &first = std::get<0>(inputs);
  Transform transform("grad", place, leaves(first));
  auto gradient = first;
  first = with_leaves(std::move(first), transform.inputs());
  auto value = std::apply(f, std::move(inputs));
  std::vector<Tensor> results = leaves(value);
  check(!results.empty(), kNoValue, "grad", place);
  std::vector<Tensor> grads = transform.gradients(results[0]);
  results.insert(results.end(), grads.begin(), grads.end());
  transform.end(results);
  gradient = with_leaves(std::move(gradient), grads);
  return std::pair(std::move(value), std::move(gradient));
}

/// The same for a module or a variable, which the function sees with traced
/// values: the gradient is a map from the names of a module's parameters, or
/// the variable's.
template <typename F, typename First, typename... Rest>
  requires ModuleTree<First> || std::same_as<Plain<First>, Variable>
auto differentiate(const F &f, std::source_location place, First &first,
                   Rest &&...rest) {
  std::vector<std::string> names;
  std::vector<const Variable *> parameters;
  std::vector<Tensor> values;
  for_each_leaf(first, [&](const std::string &path, const auto &leaf) {
    if constexpr (std::same_as<Plain<decltype(leaf)>, Variable>)
      if (runtime::isFloat(leaf.dtype())) {
        nameCell(leaf, path);
        names.push_back(path);
        parameters.push_back(&leaf);
        values.push_back(leaf);
      }
  });
  Transform transform("grad", place, values);
  for (size_t i = 0; i < parameters.size(); ++i)
    transform.cells().bind(*parameters[i], transform.inputs()[i]);
  auto value = f(first, std::forward<Rest>(rest)...);
  std::vector<Tensor> results = leaves(value);
  check(!results.empty(), kNoValue, "grad", place);
  std::vector<Tensor> grads = transform.gradients(results[0]);
  results.insert(results.end(), grads.begin(), grads.end());
  transform.end(results);
  if constexpr (ModuleTree<First>) {
    std::map<std::string, Tensor> gradient;
    for (size_t i = 0; i < names.size(); ++i)
      gradient[names[i]] = grads[i];
    return std::pair(std::move(value), std::move(gradient));
  } else {
    check(grads.size() == 1, "only floats have derivatives", "grad", place);
    return std::pair(std::move(value), std::move(grads[0]));
  }
}

/// The same for arguments by number, each of which is one tensor.
template <size_t N, typename F, typename... Args>
auto differentiate(const F &f, const argnums<N> &which,
                   std::source_location place, Args &&...args) {
  std::tuple inputs(asTree(std::forward<Args>(args))...);
  std::vector<Tensor *> chosen(N);
  size_t position = 0;
  auto choose = [&](auto &input) {
    for (size_t i = 0; i < N; ++i)
      if (which.positions[i] == position)
        if constexpr (std::same_as<Plain<decltype(input)>, Tensor>)
          chosen[i] = &input;
    ++position;
  };
  std::apply([&](auto &...each) { (choose(each), ...); }, inputs);
  std::vector<Tensor> tensors;
  for (Tensor *tensor : chosen) {
    check(tensor, "an argument that is named is not one tensor", "grad", place);
    tensors.push_back(*tensor);
  }
  Transform transform("grad", place, tensors);
  for (size_t i = 0; i < N; ++i)
    *chosen[i] = transform.inputs()[i];
  auto value = std::apply(f, std::move(inputs));
  std::vector<Tensor> results = leaves(value);
  check(!results.empty(), kNoValue, "grad", place);
  std::vector<Tensor> grads = transform.gradients(results[0]);
  results.insert(results.end(), grads.begin(), grads.end());
  transform.end(results);
  std::array<Tensor, N> gradient;
  std::move(grads.begin(), grads.end(), gradient.begin());
  return std::pair(std::move(value), std::move(gradient));
}

template <typename F>
concept Function = !std::convertible_to<F, Operand>;

} // namespace detail

/// A function that gives f's value and the derivative of it (of its first
/// tensor, if f returns a tree) with respect to the first argument, which may
/// be a tree: a pair. The derivative has the type of the argument.
template <detail::Function F>
auto value_and_grad(
    F f, std::source_location place = std::source_location::current()) {
  return [f = std::move(f), place]<typename... Args>(Args &&...args) {
    return detail::differentiate(f, place, std::forward<Args>(args)...);
  };
}
/// The same for several arguments, each one tensor, given by their positions:
/// the derivatives are a std::array.
template <detail::Function F, size_t N>
auto value_and_grad(
    F f, argnums<N> which,
    std::source_location place = std::source_location::current()) {
  return [f = std::move(f), which, place]<typename... Args>(Args &&...args) {
    return detail::differentiate(f, which, place, std::forward<Args>(args)...);
  };
}

/// A function that gives only the derivative.
template <detail::Function F>
auto grad(F f, std::source_location place = std::source_location::current()) {
  return [f = std::move(f), place]<typename... Args>(Args &&...args) {
    return detail::differentiate(f, place, std::forward<Args>(args)...).second;
  };
}
template <detail::Function F, size_t N>
auto grad(F f, argnums<N> which,
          std::source_location place = std::source_location::current()) {
  return [f = std::move(f), which, place]<typename... Args>(Args &&...args) {
    return detail::differentiate(f, which, place, std::forward<Args>(args)...)
        .second;
  };
}

/// f's value at the primals, and its change in the direction of the tangents: a
/// pair of the type of the value. Primals and tangents are tuples of trees.
template <detail::Function F, typename... Primals, typename... Tangents>
auto jvp(const F &f, const std::tuple<Primals...> &primals,
         const std::tuple<Tangents...> &tangents,
         std::source_location place = std::source_location::current()) {
  std::vector<Tensor> points = leaves(primals), directions = leaves(tangents);
  detail::check(directions.size() == points.size(),
                "primals and tangents differ in structure", "jvp", place);
  detail::Transform transform("jvp", place, points);
  auto value = std::apply(f, with_leaves(primals, transform.inputs()));
  std::vector<Tensor> results = leaves(value);
  std::vector<Tensor> changes = transform.forward(results, directions);
  auto tangent = with_leaves(value, changes);
  results.insert(results.end(), changes.begin(), changes.end());
  transform.end(results);
  return std::pair(std::move(value), std::move(tangent));
}

namespace detail {
template <typename F, typename... Inputs>
auto pullback(const F &f, std::source_location place,
              std::tuple<Inputs...> inputs) {
  Transform transform("vjp", place, leaves(inputs));
  auto value = std::apply(f, with_leaves(inputs, transform.inputs()));
  std::vector<Tensor> results = leaves(value);
  std::vector<Tensor> grads = transform.backward(results);
  std::vector<Tensor> kept = results;
  kept.insert(kept.end(), grads.begin(), grads.end());
  transform.end(kept);
  Replay replay("pullback", transform.cotangents(), std::move(grads));
  auto pull = [replay = std::move(replay), inputs = std::move(inputs)](
                  const auto &cotangent, std::source_location place =
                                             std::source_location::current()) {
    return unpack(with_leaves(inputs, replay(leaves(cotangent), place)));
  };
  return std::pair(std::move(value), std::move(pull));
}
} // namespace detail

/// f's value, and a function from a cotangent of the value to the cotangents of
/// the arguments: a tree for one argument, a tuple for several. It may be
/// called any number of times on the thread that made it.
template <detail::Function F, typename A>
auto vjp(const F &f, const A &a,
         std::source_location place = std::source_location::current()) {
  return detail::pullback(f, place, std::tuple(detail::asTree(a)));
}
template <detail::Function F, typename A, typename B>
auto vjp(const F &f, const A &a, const B &b,
         std::source_location place = std::source_location::current()) {
  return detail::pullback(f, place,
                          std::tuple(detail::asTree(a), detail::asTree(b)));
}
template <detail::Function F, typename A, typename B, typename C>
auto vjp(const F &f, const A &a, const B &b, const C &c,
         std::source_location place = std::source_location::current()) {
  return detail::pullback(
      f, place,
      std::tuple(detail::asTree(a), detail::asTree(b), detail::asTree(c)));
}
template <detail::Function F, typename A, typename B, typename C, typename D>
auto vjp(const F &f, const A &a, const B &b, const C &c, const D &d,
         std::source_location place = std::source_location::current()) {
  return detail::pullback(f, place,
                          std::tuple(detail::asTree(a), detail::asTree(b),
                                     detail::asTree(c), detail::asTree(d)));
}

namespace detail {

/// The derivatives of an output for each element of an input, by one call of
/// `column` for each unit vector of the input.
template <typename Column>
Tensor jacobian(const Tensor &input, std::source_location place,
                Column column) {
  std::vector<Tensor> columns;
  for (const Tensor &unit : basis(input, place))
    columns.push_back(column(unit));
  return assemble(columns, input.shape(), true, place);
}

} // namespace detail

/// A function that gives the derivatives of f's tensor with respect to each
/// element of the first argument, whose dimensions come last; one forward pass
/// an element of the argument. For a tree, a tree of such tensors.
template <detail::Function F>
auto jacfwd(F f, std::source_location place = std::source_location::current()) {
  return [f = std::move(f), place]<typename First, typename... Rest>(
             First &&first, const Rest &...rest) {
    auto input = detail::asTree(std::forward<First>(first));
    std::vector<Tensor> points = leaves(input), jacobians;
    auto along = [&](const auto &tree) { return f(tree, rest...); };
    for (size_t i = 0; i < points.size(); ++i)
      jacobians.push_back(
          detail::jacobian(points[i], place, [&](const Tensor &unit) {
            std::vector<Tensor> direction;
            for (const Tensor &point : points)
              direction.push_back(zeros_like(Operand(point, place)));
            direction[i] = unit;
            return jvp(along, std::tuple(input),
                       std::tuple(with_leaves(input, direction)), place)
                .second;
          }));
    return with_leaves(input, jacobians);
  };
}

/// The same by one backward pass an element of f's tensor.
template <detail::Function F>
auto jacrev(F f, std::source_location place = std::source_location::current()) {
  return [f = std::move(f), place]<typename First, typename... Rest>(
             First &&first, const Rest &...rest) {
    auto input = detail::asTree(std::forward<First>(first));
    auto along = [&](const auto &tree) { return f(tree, rest...); };
    auto [value, pullback] = vjp(along, input);
    std::vector<std::vector<Tensor>> rows;
    for (const Tensor &unit : detail::basis(value, place))
      rows.push_back(leaves(pullback(unit, place)));
    std::vector<Tensor> jacobians = leaves(input);
    for (size_t i = 0; i < jacobians.size(); ++i) {
      std::vector<Tensor> column;
      for (const std::vector<Tensor> &row : rows)
        column.push_back(row[i]);
      jacobians[i] = detail::assemble(column, value.shape(), false, place);
    }
    return with_leaves(input, jacobians);
  };
}

/// A function that gives the second derivatives of a scalar with respect to
/// each pair of elements of the first argument, one tensor.
template <detail::Function F>
auto hessian(F f,
             std::source_location place = std::source_location::current()) {
  return jacfwd(grad(std::move(f), place), place);
}

} // namespace tessera
