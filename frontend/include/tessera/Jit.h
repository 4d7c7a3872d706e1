// Functions traced once for each signature, and compiled as one program.
#pragma once

#include "tessera/Autodiff.h"
#include "tessera/InlineList.h"
#include "tessera/Lower.h"

#include <any>
#include <atomic>
#include <forward_list>

namespace tessera {

struct JitOptions {
  /// Arguments, by position, whose tensors a call uses up, so that results may
  /// take their memory: using them afterwards is a ValueError that names the
  /// call. No other thread may use them meanwhile. A call that throws, or that
  /// is inlined, gives them back. Variables that the function assigns need not
  /// be named.
  std::vector<size_t> donate = {};
  /// Threads that compute a call; 0 means the process's number.
  int threads = 0;
  /// One program for every batch size. The batch size is the leading size of
  /// the first argument that is a tensor of a dimension or more, and of every
  /// other argument that has the same leading size. The function is traced at
  /// two batch sizes; one that is another program for each, other than in its
  /// shapes and in numbers such as the divisor of a mean, is a TraceError.
  bool symbolic = false;
};

namespace detail {

/// The tensors that a call is given, what distinguishes calls that need
/// programs of their own, and which of the tensors are used up.
struct JitCall {
  InlineList<const Tensor *, 16> tensors;
  InlineList<uint64_t, 64> signature;
  InlineList<uint32_t, 8> donated;
  std::forward_list<Tensor> owned; ///< those that no argument holds
  /// With JitOptions::symbolic the batch size, -1 until it is known.
  bool symbolic = false;
  int64_t batch = -1;
  /// The sizes of all symbolic dimensions, if the batch size is not all.
  const int64_t *dims = nullptr;
};
void sign(JitCall &call, const Tensor &tensor);
void sign(JitCall &call, const Variable &variable);
void signBytes(JitCall &call, const void *data, size_t bytes);

/// Whether a call has to run the function itself: inside another transform, on
/// values that keep history, or on a device without compiled code. If not, the
/// signature gets what is left of it, the devices.
bool mustInline(JitCall &call);

/// A function's program for one signature.
class JitProgram {
public:
  virtual ~JitProgram() = default;
  /// Runs it for the results' tensors; variables that the function assigns are
  /// assigned.
  virtual void run(const JitCall &call, std::span<Tensor> results, int threads,
                   std::source_location place) const = 0;
};

struct ExportRequest;

/// One tracing of a function.
class JitTrace {
public:
  /// `name` is what the user called. With a batch size, arguments of the call's
  /// are traced with that instead; this is then one of two tracings, of which
  /// the second is given the first.
  JitTrace(const JitCall &call, const char *name, std::source_location place,
           int64_t batch = -1, JitTrace *first = nullptr);
  ~JitTrace();
  /// What the function is given for the arguments' tensors.
  const std::vector<Tensor> &inputs() const;
  /// Ends the tracing.
  std::shared_ptr<const JitProgram> finish(std::span<const Tensor> results);
  /// Ends a tracing that is one of two.
  void finishHalf(std::span<const Tensor> results);
  /// The program for every batch size; both tracings have ended.
  static std::shared_ptr<const JitProgram> unite(JitTrace &first,
                                                 JitTrace &second);
  /// Ends the tracing, for a look at what was traced.
  Lowered lower(std::span<const Tensor> results);
  /// Ends the tracing, and writes what was traced to a file: of two, when the
  /// second ends.
  void write(const ExportRequest &request, std::span<const Tensor> results);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// The batch sizes at which a symbolic call is traced, of which the first is
/// the call's if it has one.
std::pair<int64_t, int64_t> tracedBatches(const JitCall &call);

/// Throws ValueError unless every position is below `count`.
void checkPositions(const std::vector<size_t> &positions, size_t count,
                    const char *name, std::source_location place);

template <typename T>
concept Signable = std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                   std::same_as<T, std::string>;

template <typename T> void signValue(JitCall &call, const T &value) {
  if constexpr (std::same_as<T, std::string>)
    signBytes(call, value.data(), value.size());
  else
    signBytes(call, &value, sizeof value);
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
  /// `name` is what the user called.
  Jitted(F f, JitOptions options, std::source_location place,
         const char *name = "jit")
      : shared(std::make_shared<Shared>(std::move(f), std::move(options), name,
                                        place)) {}

  template <typename... Args> auto operator()(Args &&...args) const {
    return call(std::index_sequence_for<Args...>(),
                std::forward<Args>(args)...);
  }

  /// The program of a call, traced anew and not run.
  template <typename... Args> Lowered lower(Args &&...args) const {
    return trace(
        [](JitTrace &tracing, const auto &result) {
          return tracing.lower(leaves(result));
        },
        std::forward<Args>(args)...);
  }

  /// Traces a call, and gives `finish` the tracing and the function's result.
  template <typename Finish, typename... Args>
  auto trace(Finish finish, Args &&...args) const {
    return traceCall(std::move(finish), std::index_sequence_for<Args...>(),
                     std::forward<Args>(args)...);
  }

  /// Whether the I-th argument is an input of the program.
  template <size_t I, typename... Args> static constexpr bool isInput() {
    using Arg = std::tuple_element_t<I, std::tuple<Args...>>;
    if constexpr (std::is_arithmetic_v<Plain<Arg>>)
      return TakesTensor<I, F, Args...>::value;
    else
      return Tree<Plain<Arg>> && !ByCell<Arg>;
  }

private:
  struct Entry {
    std::vector<uint64_t> signature;
    std::shared_ptr<const JitProgram> program;
    std::any result; ///< the result's structure, its tensors empty
    size_t numResults;
    const Entry *next; ///< an older one
  };
  /// Entries are added at the front and stay, so that calls find theirs without
  /// a lock.
  struct Shared {
    Shared(F f, JitOptions options, const char *name,
           std::source_location place)
        : f(std::move(f)), options(std::move(options)), name(name),
          place(place) {}
    ~Shared() {
      for (const Entry *entry = latest.load(); entry;)
        delete std::exchange(entry, entry->next);
    }
    F f;
    JitOptions options;
    const char *name;
    std::source_location place;
    std::atomic<const Entry *> latest{nullptr};
  };

  /// A number taken for a tensor, which becomes one.
  template <size_t I, typename... Args> static constexpr bool isNumber() {
    using Arg = std::tuple_element_t<I, std::tuple<Args...>>;
    return std::is_arithmetic_v<Plain<Arg>> && isInput<I, Args...>();
  }
  template <size_t I, typename... Args>
  using Argument =
      std::conditional_t<isNumber<I, Args...>(), Tensor,
                         std::tuple_element_t<I, std::tuple<Args...>> &>;

  template <size_t... I, typename... Args>
  auto call(std::index_sequence<I...>, Args &&...args) const {
    using Result = Plain<decltype(shared->f(std::forward<Args>(args)...))>;
    std::tuple<Argument<I, Args...>...> given(convert<I, Args...>(args)...);
    JitCall call;
    call.symbolic = shared->options.symbolic;
    (collect<I, isInput<I, Args...>()>(std::get<I>(given), call), ...);
    if (mustInline(call))
      return static_cast<Result>(
          shared->f(std::forward<
                    std::conditional_t<isNumber<I, Args...>(), Tensor, Args>>(
              std::get<I>(given))...));
    const Entry *entry = find(call);
    if (!entry)
      entry = addEntry<Result, isInput<I, Args...>()...>(given, call);
    if constexpr (std::is_void_v<Result>) {
      entry->program->run(call, {}, shared->options.threads, shared->place);
    } else if constexpr (std::same_as<Result, Tensor>) {
      Tensor result;
      entry->program->run(call, {&result, 1}, shared->options.threads,
                          shared->place);
      return result;
    } else {
      std::vector<Tensor> results(entry->numResults);
      entry->program->run(call, results, shared->options.threads,
                          shared->place);
      return with_leaves(std::any_cast<const Result &>(entry->result),
                         std::span<const Tensor>(results));
    }
  }

  template <typename Finish, size_t... I, typename... Args>
  auto traceCall(Finish finish, std::index_sequence<I...>,
                 Args &&...args) const {
    using Result = Plain<decltype(shared->f(std::forward<Args>(args)...))>;
    std::tuple<Argument<I, Args...>...> given(convert<I, Args...>(args)...);
    JitCall call;
    call.symbolic = shared->options.symbolic;
    (collect<I, isInput<I, Args...>()>(std::get<I>(given), call), ...);
    checkPositions(shared->options.donate, sizeof...(I), shared->name,
                   shared->place);
    auto end = [&](JitTrace &tracing) {
      if constexpr (std::is_void_v<Result>) {
        invoke<isInput<I, Args...>()...>(tracing, given);
        return finish(tracing, std::tuple<>());
      } else {
        Result result = invoke<isInput<I, Args...>()...>(tracing, given);
        return finish(tracing, result);
      }
    };
    if (!call.symbolic) {
      JitTrace tracing(call, shared->name, shared->place);
      return end(tracing);
    }
    auto [one, other] = tracedBatches(call);
    JitTrace first(call, shared->name, shared->place, one);
    end(first);
    JitTrace second(call, shared->name, shared->place, other, &first);
    return end(second);
  }

  template <size_t I, typename... Args, typename Arg>
  Argument<I, Args...> convert(Arg &arg) const {
    if constexpr (isNumber<I, Args...>())
      return Tensor(arg, shared->place);
    else
      return arg;
  }

  template <size_t I, bool Input, typename Arg>
  void collect(const Arg &arg, JitCall &call) const {
    if constexpr (Input) {
      size_t first = call.tensors.size();
      for_each_leaf(arg, [&](const std::string &, const auto &leaf) {
        if constexpr (std::same_as<Plain<decltype(leaf)>, Tensor>)
          call.tensors.push_back(&leaf);
        else
          call.tensors.push_back(&call.owned.emplace_front(leaf));
        sign(call, *call.tensors.back());
      });
      for (size_t position : shared->options.donate)
        if (position == I)
          for (size_t i = first; i < call.tensors.size(); ++i)
            call.donated.push_back(uint32_t(i));
    } else if constexpr (std::same_as<Arg, Variable>) {
      sign(call, arg);
    } else if constexpr (ByCell<Arg>) {
      for_each_leaf(arg, [&](const std::string &, const auto &leaf) {
        sign(call, leaf);
      });
    } else {
      static_assert(Signable<Arg>, "a jit function takes trees of tensors, "
                                   "numbers, enums and strings");
      signValue(call, arg);
    }
  }

  const Entry *find(const JitCall &call) const {
    const Entry *entry = shared->latest.load(std::memory_order_acquire);
    while (entry &&
           !std::ranges::equal(entry->signature, call.signature.items()))
      entry = entry->next;
    return entry;
  }

  /// Runs the function on what stands for its inputs.
  template <bool... Input, typename Given>
  decltype(auto) invoke(JitTrace &tracing, Given &arguments) const {
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
    return std::apply(invoke, arguments);
  }

  template <typename Result, bool... Input, typename Given>
  const Entry *addEntry(Given &arguments, const JitCall &call) const {
    checkPositions(shared->options.donate, sizeof...(Input), shared->name,
                   shared->place);
    if (call.symbolic && call.batch >= 0)
      return traceSymbolic<Result, Input...>(arguments, call);
    JitTrace tracing(call, shared->name, shared->place);
    auto entry = std::make_unique<Entry>();
    auto signature = call.signature.items();
    entry->signature.assign(signature.begin(), signature.end());
    if constexpr (std::is_void_v<Result>) {
      invoke<Input...>(tracing, arguments);
      entry->program = tracing.finish({});
      entry->numResults = 0;
    } else {
      Result result = invoke<Input...>(tracing, arguments);
      std::vector<Tensor> results = leaves(result);
      entry->program = tracing.finish(results);
      entry->numResults = results.size();
      std::vector<Tensor> none(results.size());
      entry->result =
          with_leaves(std::move(result), std::span<const Tensor>(none));
    }
    return add(std::move(entry));
  }

  /// The same for every batch size, from tracings at two.
  template <typename Result, bool... Input, typename Given>
  const Entry *traceSymbolic(Given &arguments, const JitCall &call) const {
    auto [one, other] = tracedBatches(call);
    auto entry = std::make_unique<Entry>();
    auto signature = call.signature.items();
    entry->signature.assign(signature.begin(), signature.end());
    entry->numResults = 0;
    auto half = [&](int64_t batch, JitTrace *before) {
      auto tracing = std::make_unique<JitTrace>(call, shared->name,
                                                shared->place, batch, before);
      if constexpr (std::is_void_v<Result>) {
        invoke<Input...>(*tracing, arguments);
        tracing->finishHalf({});
      } else {
        Result result = invoke<Input...>(*tracing, arguments);
        std::vector<Tensor> results = leaves(result);
        tracing->finishHalf(results);
        entry->numResults = results.size();
        std::vector<Tensor> none(results.size());
        entry->result =
            with_leaves(std::move(result), std::span<const Tensor>(none));
      }
      return tracing;
    };
    auto first = half(one, nullptr);
    auto second = half(other, first.get());
    entry->program = JitTrace::unite(*first, *second);
    return add(std::move(entry));
  }

  const Entry *add(std::unique_ptr<Entry> entry) const {
    entry->next = shared->latest.load();
    while (!shared->latest.compare_exchange_weak(entry->next, entry.get()))
      ;
    return entry.release();
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
