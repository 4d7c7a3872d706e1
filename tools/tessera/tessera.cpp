// tessera: the command line. Each command has a file of its own.
#include "tools/tessera/Options.h"
#include "tools/tessera/Program.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;
using namespace tessera::tool;

//===-- Internal errors --===//

/// How to come to the same error again, and where the standard input is kept if
/// the program was read from there. Made before anything can fail, since a
/// signal handler may not allocate.
static char reproducer[4096], keptPath[256];

/// Writes the standard input, as far as it was read, into a file. Only with
/// what is safe in a signal handler.
static void keepInput() {
  StringRef text = standardInput();
  if (text.empty())
    return;
  int file = open(keptPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0)
    return;
  while (!text.empty()) {
    ssize_t written = write(file, text.data(), text.size());
    if (written <= 0)
      break;
    text = text.drop_front(size_t(written));
  }
  close(file);
}

static void say(const char *text) {
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, strlen(text));
}

static void sayReproducer() {
  say("This is a bug of the compiler. To reproduce it, run:\n ");
  say(reproducer);
  if (!standardInput().empty()) {
    keepInput();
    say(" < ");
    say(keptPath);
  }
  say("\n");
}

static void onCrash(int) {
  // Only what is safe in a signal handler.
  say("tessera: error: internal error: the compiler crashed\n");
  sayReproducer();
  _exit(kInternalError);
}

/// A word as a shell takes it.
static std::string quoted(StringRef word) {
  bool isPlain = !word.empty() && all_of(word, [](char c) {
    return isAlnum(c) || StringRef("-_=./,:@+").contains(c);
  });
  if (isPlain)
    return word.str();
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

/// A crash is our bug, whatever the input: say how it comes about.
static void prepareForCrashes(int argc, char **argv) {
  std::string text;
  for (int i = 0; i < argc; ++i)
    text += " " + quoted(argv[i]);
  strncpy(reproducer, text.c_str(), sizeof reproducer - 1);
  SmallString<128> path;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
  sys::path::append(path, "tessera-input-" + Twine(getpid()) + ".mlir");
  strncpy(keptPath, path.c_str(), sizeof keptPath - 1);
  // On its own stack, in case the other one has overflowed.
  static char stack[64 << 10];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = onCrash;
  action.sa_flags = SA_ONSTACK;
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
    sigaction(number, &action, nullptr);
}

static int dispatch(int argc, char **argv) {
  StringRef first = argc > 1 ? argv[1] : "";
  if (first.empty() || first == "--help" || first == "-h" || first == "help") {
    printOverview();
    return first.empty() ? kUsageError : kOk;
  }
  if (first == "--version") {
    outs() << "tessera " TESSERA_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
    return kOk;
  }
  if (first == "--completion") {
    outs() << kBashCompletion;
    return kOk;
  }
  if (first == "--complete")
    return complete(ArrayRef(argv + 2, size_t(argc - 2)));
  SmallVector<StringRef> names;
  for (const Command &command : commands()) {
    names.push_back(command.name);
    if (first != command.name)
      continue;
    Arguments arguments(command, argc - 2, argv + 2);
    if (arguments.has(OPT_help)) {
      printHelp(command);
      return kOk;
    }
    return command.run(arguments);
  }
  failUsage("there is no command '" + first + "'" + suggestion(first, names));
}

int main(int argc, char **argv) {
  prepareForCrashes(argc, argv);
  int code;
  try {
    code = dispatch(argc, argv);
  } catch (const Failure &failure) {
    errs() << StringRef(failure.text).rtrim() << "\n";
    code = failure.code;
    if (code == kInternalError)
      sayReproducer();
  } catch (const std::exception &error) {
    StringRef text = error.what();
    errs() << "tessera: error: "
           << (text == "std::bad_alloc" ? "out of memory" : text) << "\n";
    code = kUserError;
  }
  outs().flush();
  if (outs().has_error()) {
    errs() << "tessera: error: the output could not be written: "
           << outs().error().message() << "\n";
    outs().clear_error();
    code = kUserError;
  }
  return code;
}
