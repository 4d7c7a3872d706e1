// Machine contexts: stacks of their own and the switch between them.
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#define TESSERA_SIM_UCONTEXT 1
#include <ucontext.h>
#endif

namespace tessera::runtime::sim {

// Memory for the stack of a fibre, with a page below it that faults.
struct Stack {
  char *base = nullptr;
  size_t bytes = 0;
};

// Takes a stack from the process's pool, or maps a new one; std::bad_alloc.
Stack acquireStack();
void releaseStack(Stack stack);

// Where a thread of control goes on: either of a stack of its own, or of the
// thread that first switches away from it.
class Context {
public:
  Context() = default;
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  // The next switch here calls entry(argument) on `stack`; it must not return.
  void prepare(Stack stack, void (*entry)(void *), void *argument);

  // Saves this thread of control here and goes on at `to`.
  void switchTo(Context &to);

private:
  static void enter(void *context);

#ifdef TESSERA_SIM_UCONTEXT
  ucontext_t machine;
#else
  void *stackPointer = nullptr;
#endif
  Stack stack;
  void (*entry)(void *) = nullptr;
  void *argument = nullptr;
  // What the sanitizers know this context by.
  [[maybe_unused]] void *sanitizer = nullptr;
};

} // namespace tessera::runtime::sim
