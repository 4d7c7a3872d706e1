// LLVM's fatal error handler: jumps back to the innermost guard of the thread,
// as LLVM's own CrashRecoveryContext does.
#include "lowering/CodeGen/FatalErrors.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <csetjmp>
#include <mutex>
#include <string>

using namespace llvm;

namespace tessera::lowering {

namespace {

struct Guard {
  std::jmp_buf target;
  std::string reason;
};

thread_local Guard *currentGuard = nullptr;

void onFatalError(void *, const char *reason, bool) {
  if (Guard *guard = currentGuard) {
    guard->reason = reason;
    std::longjmp(guard->target, 1);
  }
  // When this returns, LLVM ends the process.
  errs() << "LLVM ERROR: " << reason << "\n";
}

} // namespace

Error runGuarded(function_ref<void()> work) {
  static std::once_flag once;
  std::call_once(once, [] { install_fatal_error_handler(onFatalError); });
  // Volatile and on the heap: locals changed after setjmp are otherwise
  // indeterminate after the jump.
  Guard *volatile outer = currentGuard;
  Guard *volatile guard = new Guard;
  currentGuard = guard;
  bool failed = setjmp(guard->target) != 0;
  if (!failed)
    work();
  currentGuard = outer;
  std::string reason = std::move(guard->reason);
  delete guard;
  if (failed)
    return createStringError(inconvertibleErrorCode(),
                             "internal error: LLVM: " + reason);
  return Error::success();
}

} // namespace tessera::lowering
