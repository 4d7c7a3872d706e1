// tessera: the command line. Each command has a file of its own.
#include "tools/tessera/Options.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstring>
#include <unistd.h>

using namespace llvm;
using namespace tessera::tool;

/// What a crash says: which input reproduces it.
static char crashText[4096];

static void onCrash(int) {
  // Only what is safe in a signal handler.
  [[maybe_unused]] ssize_t written =
      write(STDERR_FILENO, crashText, strlen(crashText));
  _exit(kInternalError);
}

/// A crash is our bug, whatever the input: say how it comes about.
static void prepareForCrashes(int argc, char **argv) {
  std::string text = "tessera: internal error: the compiler crashed. To "
                     "reproduce it, keep the file and run:";
  for (int i = 0; i < argc; ++i)
    text += std::string(" ") + argv[i];
  text += "\n";
  strncpy(crashText, text.c_str(), sizeof crashText - 1);
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
  } catch (const std::exception &error) {
    errs() << "tessera: error: " << error.what() << "\n";
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
