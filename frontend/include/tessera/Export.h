// Programs in files: written from a function, and called again without it.
#pragma once

#include "tessera/Jit.h"
#include "tessera/Module.h"

namespace tessera {

/// What an exported program calls its arguments and results, and which
/// arguments it may overwrite. A name consists of letters, digits, `_` and `.`
/// and begins with a letter or `_`; no two may be the same once `.` is `_`, as
/// in a C header.
struct ExportOptions {
  /// Names of f's arguments, by position; where none is given, or an empty one,
  /// `x0`, `x1` and so on. A tensor inside a tree adds its path: `x0.w` is a
  /// field, `x0_1` an element of a list. The variables of a module argument are
  /// named by their paths, after the name that is given for the module, if one
  /// is.
  std::vector<std::string> arguments = {};
  /// Names of the results, by position if f returns a tuple or a list; by
  /// default `y`, or `y0`, `y1` and so on.
  std::vector<std::string> results = {};
  /// Arguments, by position, whose memory results may take.
  std::vector<size_t> donate = {};
  /// One program for every batch size, as JitOptions::symbolic says. The
  /// arguments have the symbolic dimension `batch`; a call's sizes decide.
  bool symbolic = false;
  /// The weights become part of the program file, as text, instead of a file
  /// beside it.
  bool embed_weights = false;
};

namespace detail {

/// A path with the place of the call that it is given to.
struct ProgramPath {
  template <std::convertible_to<std::string> Text>
  ProgramPath(Text &&text,
              std::source_location place = std::source_location::current())
      : text(std::forward<Text>(text)), place(place) {}
  std::string text;
  std::source_location place;
};

/// What is to be exported besides what was traced.
struct ExportRequest {
  std::string path;
  ExportOptions options = {};
  size_t numArguments = 0; ///< that f was given
  /// The tensors of the call: the position of the argument that each is of, and
  /// its path there.
  std::vector<std::pair<size_t, std::string>> arguments = {};
  /// Variables of arguments.
  struct NamedVariable {
    std::shared_ptr<Cell> cell;
    size_t argument;
    std::string path;
  };
  std::vector<NamedVariable> variables = {};
  /// The paths of the results' tensors.
  std::vector<std::string> results = {};
  bool resultIsList = false; ///< such that paths begin with positions
};

template <bool IsInput, typename Arg>
void describeArgument(ExportRequest &request, const Arg &arg) {
  size_t position = request.numArguments++;
  if constexpr (IsInput && std::is_arithmetic_v<Arg>)
    request.arguments.push_back({position, ""});
  else if constexpr (Tree<Arg>)
    for_each_leaf(arg, [&](const std::string &path, const auto &leaf) {
      if constexpr (IsInput)
        request.arguments.push_back({position, path});
      else if constexpr (std::same_as<Plain<decltype(leaf)>, Variable>)
        request.variables.push_back({leaf.cell(), position, path});
    });
}

template <typename F, typename... Args>
void exportFunction(ExportRequest request, std::source_location place, F f,
                    Args &&...args) {
  if constexpr (ModuleTree<F>)
    f.tessera_variables([](const std::string &, Variable &) {}); // named by it
  [&]<size_t... I>(std::index_sequence<I...>) {
    (describeArgument<Jitted<F>::template isInput<I, Args...>()>(request, args),
     ...);
  }(std::index_sequence_for<Args...>());
  Jitted<F> function(
      std::move(f),
      {.donate = request.options.donate, .symbolic = request.options.symbolic},
      place, "export_program");
  function.trace(
      [&](JitTrace &tracing, const auto &result) {
        using Result = Plain<decltype(result)>;
        request.results.clear();
        request.resultIsList = Container<Result>::value && !Map<Result>::value;
        for_each_leaf(result, [&](const std::string &path, const auto &) {
          request.results.push_back(path);
        });
        tracing.write(request, leaves(result));
      },
      std::forward<Args>(args)...);
}

} // namespace detail

/// Writes the program that `jit(f)` would compile for these arguments, of which
/// only the signature matters, to a file in MLIR's text form, with the user's
/// lines; docs/file-formats.md says what is in it. The tensors that f captures
/// and the values of the variables that it reads or assigns go to a safetensors
/// file beside it, `step.safetensors` for `step.mlir`, if there are any, or
/// into it with ExportOptions::embed_weights. C++ numbers inside f become
/// constants; arguments that f takes as a Tensor stay arguments. Nothing is
/// computed but captured values that are still to be, and no variable is
/// assigned. Both files are replaced as a whole.
///
/// A variable is named by the path that a module or an optimiser has for it,
/// once one of them has visited it: `a.weight`, `a.weight.m`, `lr`. A module
/// that is only called inside f has not; pass it as f, or as an argument.
///
/// Throws IoError for a file that cannot be written, ValueError for names that
/// are wrong, for a function without results, for a variable that f gives
/// another type, and for `symbolic` without an argument that has a dimension,
/// TraceError for an f that is another program for other batch sizes. A
/// variable that has no value yet is local to a call.
template <detail::Function F, typename... Args>
void export_program(const detail::ProgramPath &path, F f, Args &&...args) {
  detail::exportFunction({.path = path.text}, path.place, std::move(f),
                         std::forward<Args>(args)...);
}
template <detail::Function F, typename... Args>
void export_program(const detail::ProgramPath &path, ExportOptions options, F f,
                    Args &&...args) {
  detail::exportFunction({.path = path.text, .options = std::move(options)},
                         path.place, std::move(f), std::forward<Args>(args)...);
}

/// What a call of a loaded program gives: the results in order. A single one
/// converts to a Tensor.
class ProgramResults : public std::vector<Tensor> {
public:
  ProgramResults(std::vector<Tensor> tensors, std::source_location place)
      : std::vector<Tensor>(std::move(tensors)), place(place) {}
  /// Throws ValueError unless there is one.
  operator Tensor() const;

private:
  std::source_location place; ///< of the call
};

/// A program from a file. It is compiled once, when it is loaded, for this
/// machine's CPU; on the reference device the interpreter computes it. The
/// state that it reads and updates is kept between calls; a copy is the same
/// program with the same state. Any number of threads may call it.
class Program {
public:
  struct Value {
    std::string name;
    DType dtype;
    Shape shape; ///< -1 for a symbolic dimension
  };
  /// What a call is given and what it gives, in order.
  const std::vector<Value> &arguments() const;
  const std::vector<Value> &results() const;

  /// Runs it. A number stands for an argument without dimensions. Symbolic
  /// dimensions take the sizes of the arguments. Throws ValueError for a wrong
  /// count, ShapeError and TypeError for an argument of
  /// another type, TraceError inside a transform and for an argument that
  /// requires a gradient.
  template <std::convertible_to<Operand>... Rest>
  ProgramResults operator()(const Operand &first, const Rest &...rest) const {
    return run({first, Operand(rest)...}, first.place());
  }
  ProgramResults operator()(
      const std::vector<Tensor> &given,
      std::source_location place = std::source_location::current()) const {
    return run({given.begin(), given.end()}, place);
  }
  ProgramResults operator()(
      std::source_location place = std::source_location::current()) const {
    return run({}, place);
  }

  /// The values of captured tensors and variables, by name.
  nn::TensorMap state() const;
  /// Sets them. Throws ValueError for a name that the program lacks, or one
  /// that the map lacks, unless `strict` is false, and ShapeError or TypeError
  /// for a value of another type; then nothing is changed.
  void load_state(const nn::TensorMap &values, bool strict = true,
                  std::source_location place = std::source_location::current());

  struct State;
  explicit Program(std::shared_ptr<State> state) : theState(std::move(state)) {}

private:
  ProgramResults run(const std::vector<Operand> &given,
                     std::source_location place) const;
  std::shared_ptr<State> theState;
};

/// Reads a program that export_program has written, or one of a dump's first
/// four stages, and the safetensors file that it names. Throws IoError, with
/// the place in the file, for one that is missing, truncated or wrong, of
/// another version, or whose weights are.
Program
load_program(const std::string &path,
             std::source_location place = std::source_location::current());

} // namespace tessera
