// Trees of tensors: what transforms take and give.
#pragma once

#include "tessera/Variable.h"

#include <array>
#include <map>
#include <tuple>
#include <vector>

// Names, inside a struct, the fields that make it a tree: TESSERA_TREE(Params,
// w, b). Fields that are no trees, such as sizes, may be named too; they are
// copied along.
#define TESSERA_TREE(Type, ...)                                                \
  template <typename Self, typename Visit>                                     \
    requires std::is_same_v<std::remove_const_t<Self>, Type>                   \
  static void tessera_fields(Self &self, Visit &&visit) {                      \
    TESSERA_EACH(TESSERA_FIELD, __VA_ARGS__)                                   \
  }                                                                            \
  void tessera_variables(const ::tessera::detail::VisitVariable &visit) {      \
    ::tessera::detail::each_variable(*this, visit);                            \
  }                                                                            \
  void tessera_modules(const ::tessera::detail::VisitModule &visit) {          \
    ::tessera::detail::each_module(*this, visit);                              \
  }

#define TESSERA_FIELD(name) visit(#name, self.name);

// Applies a macro to up to 256 arguments.
#define TESSERA_EACH(macro, ...)                                               \
  __VA_OPT__(TESSERA_EXPAND(TESSERA_EACH_STEP(macro, __VA_ARGS__)))
#define TESSERA_EACH_STEP(macro, first, ...)                                   \
  macro(first) __VA_OPT__(TESSERA_EACH_AGAIN TESSERA_PARENS(macro, __VA_ARGS__))
#define TESSERA_EACH_AGAIN() TESSERA_EACH_STEP
#define TESSERA_PARENS ()
#define TESSERA_EXPAND(...)                                                    \
  TESSERA_EXPAND3(                                                             \
      TESSERA_EXPAND3(TESSERA_EXPAND3(TESSERA_EXPAND3(__VA_ARGS__))))
#define TESSERA_EXPAND3(...)                                                   \
  TESSERA_EXPAND2(                                                             \
      TESSERA_EXPAND2(TESSERA_EXPAND2(TESSERA_EXPAND2(__VA_ARGS__))))
#define TESSERA_EXPAND2(...)                                                   \
  TESSERA_EXPAND1(                                                             \
      TESSERA_EXPAND1(TESSERA_EXPAND1(TESSERA_EXPAND1(__VA_ARGS__))))
#define TESSERA_EXPAND1(...) __VA_ARGS__

namespace tessera {
namespace detail {

template <typename T> using Plain = std::remove_cvref_t<T>;

struct IgnoreField {
  template <typename Field> void operator()(const char *, Field &) const {}
};

template <typename T>
concept HasMemberFields =
    requires(T &tree) { T::tessera_fields(tree, IgnoreField()); };

/// The standard containers that are trees.
template <typename T> struct Container : std::false_type {};
template <typename T, typename A>
struct Container<std::vector<T, A>> : std::true_type {};
template <typename T, size_t N>
struct Container<std::array<T, N>> : std::true_type {};
template <typename... Ts>
struct Container<std::tuple<Ts...>> : std::true_type {};
template <typename A, typename B>
struct Container<std::pair<A, B>> : std::true_type {};
template <typename K, typename V, typename C, typename A>
struct Container<std::map<K, V, C, A>> : std::true_type {};

template <typename T> struct Map : std::false_type {};
template <typename K, typename V, typename C, typename A>
struct Map<std::map<K, V, C, A>> : std::true_type {};

template <typename T>
concept TupleLike = requires { std::tuple_size<T>::value; };

inline std::string join(const std::string &path, const std::string &name) {
  return path.empty() ? name : path + "." + name;
}
inline std::string keyText(const std::string &key) { return key; }
template <typename Key> std::string keyText(const Key &key) {
  return std::to_string(key);
}

} // namespace detail

namespace detail {
/// What modules derive from: trees with identity, whose leaves are variables.
struct ModuleBase;
using VisitVariable = std::function<void(const std::string &path, Variable &)>;
using VisitModule = std::function<void(ModuleBase &)>;
struct ModuleBase {
  virtual ~ModuleBase() = default;
  /// TESSERA_TREE overrides these: all variables below, the modules that are
  /// fields.
  virtual void tessera_variables(const VisitVariable &) {}
  virtual void tessera_modules(const VisitModule &) {}
};
template <typename T>
concept ModuleTree = std::derived_from<Plain<T>, ModuleBase>;
} // namespace detail

/// A tensor; a variable; a vector, array, tuple, pair or map; or a type that
/// names its fields with TESSERA_TREE.
template <typename T>
concept Tree = std::same_as<detail::Plain<T>, Tensor> ||
               std::same_as<detail::Plain<T>, Variable> ||
               detail::Container<detail::Plain<T>>::value ||
               detail::HasMemberFields<detail::Plain<T>>;

/// Calls f(path, leaf) for each tensor and each variable of a tree, in a fixed
/// order; paths are names and positions joined by dots: "layers.0.weight". What
/// is no tree is passed over.
template <typename T, typename F>
void for_each_leaf(T &tree, F &&f, const std::string &path = "") {
  using Type = std::remove_const_t<T>;
  auto field = [&](const char *name, auto &child) {
    for_each_leaf(child, f, detail::join(path, name));
  };
  if constexpr (std::same_as<Type, Tensor> || std::same_as<Type, Variable>) {
    f(path, tree);
  } else if constexpr (detail::Map<Type>::value) {
    for (auto &[key, child] : tree)
      for_each_leaf(child, f, detail::join(path, detail::keyText(key)));
  } else if constexpr (detail::HasMemberFields<Type>) {
    Type::tessera_fields(tree, field);
  } else if constexpr (detail::Container<Type>::value &&
                       !detail::TupleLike<Type>) {
    size_t i = 0;
    for (auto &child : tree)
      for_each_leaf(child, f, detail::join(path, std::to_string(i++)));
  } else if constexpr (detail::Container<Type>::value) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      (for_each_leaf(std::get<I>(tree), f,
                     detail::join(path, std::to_string(I))),
       ...);
    }(std::make_index_sequence<std::tuple_size_v<Type>>());
  }
}

/// The tensors of a tree in their fixed order, variables read.
template <typename T> std::vector<Tensor> leaves(const T &tree) {
  std::vector<Tensor> tensors;
  for_each_leaf(tree, [&](const std::string &, const auto &leaf) {
    tensors.push_back(leaf);
  });
  return tensors;
}

/// A tree of the same structure with other tensors.
template <typename T> T with_leaves(T tree, std::span<const Tensor> tensors) {
  size_t i = 0;
  for_each_leaf(tree,
                [&](const std::string &, auto &leaf) { leaf = tensors[i++]; });
  return tree;
}

namespace detail {
template <typename T> void each_variable(T &tree, const VisitVariable &visit) {
  for_each_leaf(tree, [&](const std::string &path, auto &leaf) {
    if constexpr (std::same_as<Plain<decltype(leaf)>, Variable>) {
      nameCell(leaf, path);
      visit(path, leaf);
    }
  });
}
template <typename T> void each_module(T &tree, const VisitModule &visit) {
  auto field = [&](const char *, auto &child) {
    if constexpr (ModuleTree<decltype(child)>)
      visit(child);
    else if constexpr (Container<Plain<decltype(child)>>::value &&
                       !TupleLike<Plain<decltype(child)>> &&
                       !Map<Plain<decltype(child)>>::value)
      for (auto &item : child)
        if constexpr (ModuleTree<decltype(item)>)
          visit(item);
  };
  if constexpr (HasMemberFields<T>)
    T::tessera_fields(tree, field);
}
} // namespace detail

/// Evaluates all tensors of a tree together.
template <Tree T>
  requires(!std::convertible_to<T, Operand>)
void eval(const T &tree,
          std::source_location place = std::source_location::current()) {
  std::vector<Tensor> tensors = leaves(tree);
  eval(std::span<const Tensor>(tensors), place);
}

} // namespace tessera
