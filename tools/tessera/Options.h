// The command line of `tessera`: flags, values, and what is wrong with them.
#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_H

#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include <map>
#include <string>

namespace tessera::tool {

/// What the process exits with.
enum ExitCode {
  kOk = 0,
  kUserError = 1,
  kUsageError = 2,
  kDiffers = 3,
  kUnsupported = 4,
  kInternalError = 70
};

/// Ends a command. The text is one or more whole diagnostics, with or without a
/// line break at the end.
struct Failure {
  int code;
  std::string text;
};
/// Throws: "tessera: error: TEXT" with the exit code.
[[noreturn]] void fail(const llvm::Twine &text, int code = kUserError);
/// The same for what is wrong on the command line, with a hint at --help.
[[noreturn]] void failUsage(const llvm::Twine &text);
/// Throws for an error of the compiler: an internal one has its own exit code.
[[noreturn]] void fail(llvm::Error error);
/// Whether an error of the compiler is its own fault, as its text says.
bool isInternal(llvm::StringRef text);

enum Option {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "tools/tessera/Options.inc"
#undef OPTION
};

struct Command {
  const char *name, *usage, *summary;
  unsigned visibility; ///< the flags that belong to it
  int (*run)(const class Arguments &);
};
/// All commands, in the order of the help text.
llvm::ArrayRef<Command> commands();

/// The flags and files that a command was given, checked as far as the flags'
/// own names go.
class Arguments {
public:
  /// Throws a Failure for unknown flags, with the nearest that there is.
  Arguments(const Command &command, int argc, const char *const *argv);

  bool has(Option option) const { return list.hasArg(option); }
  std::string text(Option option, llvm::StringRef otherwise = "") const;
  /// Throws if one of these flags is given, which has no meaning there: `where`
  /// is "with --device=reference".
  void refuse(llvm::ArrayRef<Option> options, const llvm::Twine &where) const;
  /// One of `allowed`, or empty if the flag is not given.
  std::string oneOf(Option option,
                    llvm::ArrayRef<llvm::StringRef> allowed) const;
  int64_t integer(Option option, int64_t least, int64_t most,
                  int64_t otherwise) const;
  double number(Option option, double otherwise) const;
  /// The parts between commas, of all occurrences; some if the flag is given.
  std::vector<std::string> parts(Option option) const;
  /// NAME=VALUE, of all occurrences. A name twice is an error.
  std::map<std::string, std::string> assignments(Option option) const;
  /// The one file that the command takes.
  std::string file() const;
  /// A command that takes none.
  void noFile() const;

private:
  const llvm::opt::InputArgList list;
};

/// The help of a command, and of all.
void printHelp(const Command &command);
void printOverview();
/// `tessera --complete WORD...`: the words that may stand for the last one.
int complete(llvm::ArrayRef<const char *> words);
/// The text of a bash script that makes the shell ask complete().
extern const char *const kBashCompletion;
/// The nearest of the candidates, as " Did you mean 'X'?", or nothing.
std::string suggestion(llvm::StringRef text,
                       llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace tessera::tool

#endif
