// Functions traced once for each signature, and compiled as one program.
#pragma once

#include "tessera/Autodiff.h"
#include "tessera/Lower.h"

#include <any>
#include <mutex>

namespace tessera {

struct JitOptions {
  /// Threads that compute a call; 0 means the process's number.
  int threads = 0;
};

namespace detail {

/// What distinguishes calls that need programs of their own.
using Signature = std::vector<uint64_t>;
void sign(Signature &signature, const Tensor &tensor);
void sign(Signature &signature, const Variable &variable);
void signBytes(Signature &signature, const void *data, size_t bytes);

/// Whether a call has to run the function itself: inside another transform, on
/// values that keep history, or on a device without compiled code.
bool mustInline(std::span<const Tensor> arguments);

/// A function's program for one signature.
class JitProgram {
public:
  virtual ~JitProgram() = default;
  /// Runs it: the results' tensors; variables that the function assigns are
  /// assigned.
  virtual std::vector<Tensor> run(std::span<const Tensor> arguments,
                                  int threads,
                                  std::source_location place) const = 0;
};

/// One tracing of a function.
class JitTrace {
public:
  JitTrace(std::span<const Tensor> arguments, std::source_location place);
  ~JitTrace();
  /// What the function is given for the arguments' tensors.
  const std::vector<Tensor> &inputs() const;
  /// Ends the tracing.
  std::shared_ptr<const JitProgram> finish(std::span<const Tensor> results);
  /// Ends the tracing, for a look at what was traced.
  Lowered lower(std::span<const Tensor> results);

private:
  struct State;
  std::unique_ptr<State> state;
};

template <typename T>
concept Signable = std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                   std::same_as<T, std::string>;

template <typename T> void signValue(Signature &signature, const T &value) {
  if constexpr (std::same_as<T, std::string>)
    signBytes(signature, value.data(), value.size());
  else
    signBytes(signature, &value, sizeof value);
}

/// Whether the function takes a tensor where the I-th argument is given.
template <size_t I, typename F, typename... Args> struct TakesTensor {
  template <size_t J, typename T>
  using Replaced = std::conditional_t<I == J, Tensor, T>;
  template <size_t... J> static constexpr bool test(std::index_sequence<J...>) {
    return std::is_invocable_v<F &, Replaced<J, Args>...>;
  }
  static constexpr bool value = test(std::index_sequence_for<Args...>());
};

/// A module or variable stands for its cells and is handed on as it is; a tree
/// and a number that is taken for a tensor are inputs; other values belong to
/// the signature.
template <typename T>
concept ByCell = std::same_as<Plain<T>, Variable> || ModuleTree<Plain<T>>;

template <typename F> class Jitted {
public:
  Jitted(F f, JitOptions options, std::source_location place)
      : shared(std::make_shared<Shared>(std::move(f), options, place)) {}

  template <typename... Args> auto operator()(Args &&...args) const {
    return call(std::index_sequence_for<Args...>(),
                std::forward<Args>(args)...);
  }

  /// The program of a call, traced anew and not run.
  template <typename... Args> Lowered lower(Args &&...args) const {
    return lowerCall(std::index_sequence_for<Args...>(),
                     std::forward<Args>(args)...);
  }

private:
  struct Entry {
    Signature signature;
    std::shared_ptr<const JitProgram> program;
    std::any result; ///< the result's structure, its tensors empty
  };
  struct Shared {
    Shared(F f, JitOptions options, std::source_location place)
        : f(std::move(f)), options(options), place(place) {}
    F f;
    JitOptions options;
    std::source_location place;
    std::mutex mutex;
    std::vector<std::shared_ptr<const Entry>> entries; ///< latest first
  };

  template <size_t I, typename... Args> static constexpr bool isInput() {
    using Arg = std::tuple_element_t<I, std::tuple<Args...>>;
    if constexpr (std::is_arithmetic_v<Plain<Arg>>)
      return TakesTensor<I, F, Args...>::value;
    else
      return Tree<Plain<Arg>> && !ByCell<Arg>;
  }

  template <size_t... I, typename... Args>
  auto call(std::index_sequence<I...>, Args &&...args) const {
    using Result = Plain<decltype(shared->f(std::forward<Args>(args)...))>;
    // Numbers taken for tensors become tensors; the rest stays.
    auto converted =
        std::tuple<Argument<I, Args...>...>(convert<I, Args...>(args)...);
    std::vector<Tensor> tensors;
    Signature signature;
    (collect<isInput<I, Args...>()>(std::get<I>(converted), tensors, signature),
     ...);
    if (mustInline(tensors))
      return std::apply(shared->f, std::move(converted));
    std::shared_ptr<const Entry> entry = find(signature);
    if (!entry)
      entry = trace<Result, isInput<I, Args...>()...>(converted, tensors,
                                                      std::move(signature));
    std::vector<Tensor> results =
        entry->program->run(tensors, shared->options.threads, shared->place);
    if constexpr (!std::is_void_v<Result>)
      return with_leaves(std::any_cast<const Result &>(entry->result),
                         std::span<const Tensor>(results));
  }

  template <size_t... I, typename... Args>
  Lowered lowerCall(std::index_sequence<I...>, Args &&...args) const {
    using Result = Plain<decltype(shared->f(std::forward<Args>(args)...))>;
    auto converted =
        std::tuple<Argument<I, Args...>...>(convert<I, Args...>(args)...);
    std::vector<Tensor> tensors;
    Signature signature; // collected with the tensors
    (collect<isInput<I, Args...>()>(std::get<I>(converted), tensors, signature),
     ...);
    JitTrace tracing(tensors, shared->place);
    if constexpr (std::is_void_v<Result>) {
      invoke<isInput<I, Args...>()...>(tracing, converted);
      return tracing.lower({});
    } else {
      Result result = invoke<isInput<I, Args...>()...>(tracing, converted);
      return tracing.lower(leaves(result));
    }
  }

  template <size_t I, typename... Args>
  using Argument = std::conditional_t<
      std::is_arithmetic_v<
          Plain<std::tuple_element_t<I, std::tuple<Args...>>>> &&
          isInput<I, Args...>(),
      Tensor,
      std::conditional_t<ByCell<std::tuple_element_t<I, std::tuple<Args...>>>,
                         std::tuple_element_t<I, std::tuple<Args...>> &,
                         Plain<std::tuple_element_t<I, std::tuple<Args...>>>>>;

  template <size_t I, typename... Args, typename Arg>
  Argument<I, Args...> convert(Arg &arg) const {
    if constexpr (std::same_as<Argument<I, Args...>, Tensor> &&
                  std::is_arithmetic_v<Plain<Arg>>)
      return Tensor(arg, shared->place);
    else
      return arg;
  }

  template <bool Input, typename Arg>
  static void collect(const Arg &arg, std::vector<Tensor> &tensors,
                      Signature &signature) {
    if constexpr (Input) {
      for_each_leaf(arg, [&](const std::string &, const Tensor &leaf) {
        sign(signature, leaf);
        tensors.push_back(leaf);
      });
    } else if constexpr (std::same_as<Arg, Variable>) {
      sign(signature, arg);
    } else if constexpr (ByCell<Arg>) {
      for_each_leaf(arg, [&](const std::string &, const auto &leaf) {
        sign(signature, leaf);
      });
    } else {
      static_assert(Signable<Arg>, "a jit function takes trees of tensors, "
                                   "numbers, enums and strings");
      signValue(signature, arg);
    }
  }

  std::shared_ptr<const Entry> find(const Signature &signature) const {
    std::lock_guard guard(shared->mutex);
    for (auto &entry : shared->entries)
      if (entry->signature == signature)
        return entry;
    return nullptr;
  }

  /// Runs the function on what stands for its inputs.
  template <bool... Input, typename Converted>
  decltype(auto) invoke(JitTrace &tracing, Converted &converted) const {
    size_t next = 0;
    auto substitute =
        [&]<bool IsInput>(auto &argument,
                          std::bool_constant<IsInput>) -> decltype(auto) {
      if constexpr (IsInput) {
        size_t count = leaves(argument).size();
        auto given = std::span(tracing.inputs()).subspan(next, count);
        next += count;
        return with_leaves(argument, given);
      } else {
        return (argument);
      }
    };
    auto invoke = [&](auto &...argument) -> decltype(auto) {
      // Braces keep the order of evaluation.
      std::tuple<decltype(substitute(argument, std::bool_constant<Input>()))...>
          given{substitute(argument, std::bool_constant<Input>())...};
      return std::apply(shared->f, std::move(given));
    };
    return std::apply(invoke, converted);
  }

  template <typename Result, bool... Input, typename Converted>
  std::shared_ptr<const Entry> trace(Converted &converted,
                                     std::span<const Tensor> tensors,
                                     Signature signature) const {
    JitTrace tracing(tensors, shared->place);
    auto entry = std::make_shared<Entry>();
    entry->signature = std::move(signature);
    if constexpr (std::is_void_v<Result>) {
      invoke<Input...>(tracing, converted);
      entry->program = tracing.finish({});
    } else {
      Result result = invoke<Input...>(tracing, converted);
      std::vector<Tensor> results = leaves(result);
      entry->program = tracing.finish(results);
      std::vector<Tensor> none(results.size());
      entry->result =
          with_leaves(std::move(result), std::span<const Tensor>(none));
    }
    std::lock_guard guard(shared->mutex);
    shared->entries.insert(shared->entries.begin(), entry);
    return entry;
  }

  std::shared_ptr<Shared> shared;
};

} // namespace detail

/// A function that does what `f` does, traced once for each signature (shapes,
/// dtypes, structure, the variables of module arguments, and arguments that are
/// no tensors) and compiled as one program. Tensors that `f` captures are bound
/// when it is traced; variables are read anew by every call and those that `f`
/// assigns are assigned when the call is done, unless it throws. Looking at a
/// traced value's elements throws TraceError.
template <detail::Function F>
auto jit(F f, JitOptions options = {},
         std::source_location place = std::source_location::current()) {
  return detail::Jitted<F>(std::move(f), options, place);
}

/// `Lowered l = lower(f, args...)`: the program that `jit(f)` would compile for
/// these arguments, of which only the signature matters. Nothing is computed
/// but captured values that are still to be, and no variable is assigned.
template <detail::Function F, typename... Args> struct lower : Lowered {
  explicit lower(F f, Args &&...args,
                 std::source_location place = std::source_location::current())
      : Lowered(detail::Jitted<F>(std::move(f), {}, place)
                    .lower(std::forward<Args>(args)...)) {}
};
template <typename F, typename... Args>
lower(F, Args &&...) -> lower<F, Args...>;

} // namespace tessera
