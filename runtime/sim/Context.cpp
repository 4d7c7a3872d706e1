// The switch between contexts: on x86-64 seven instructions in and out, on
// other hosts ucontext.
#include "runtime/sim/Context.h"

#include <cstdint>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TESSERA_SIM_ASAN 1
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if __has_feature(thread_sanitizer)
#define TESSERA_SIM_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif
#endif

#ifndef TESSERA_SIM_UCONTEXT
// Saves what the System V ABI says a call preserves, but for the control words
// of floating point, which are the same in every fibre. A new context returns
// into the start, which finds its function and argument in two of the
// registers.
asm(R"(
  .text
  .p2align 4
  .type tessera_sim_switch, @function
tessera_sim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
  .size tessera_sim_switch, . - tessera_sim_switch
  .type tessera_sim_start, @function
tessera_sim_start:
  movq %r13, %rdi
  callq *%r12
  ud2
  .size tessera_sim_start, . - tessera_sim_start
)");

extern "C" {
__attribute__((visibility("hidden"))) void tessera_sim_switch(void **save,
                                                              void *load);
__attribute__((visibility("hidden"))) void tessera_sim_start();
}
#endif

namespace tessera::runtime::sim {

namespace {

constexpr size_t kStackBytes = 64 << 10;
constexpr int kStacksPerMapping = 32;
// Stacks start at different places of a page, or those of a block would all
// want the same lines of the caches.
constexpr size_t kStagger = 832, kStaggered = 16 << 10;

struct StackPool {
  std::mutex mutex;
  std::vector<Stack> free;
  size_t stagger = 0;

  // Never destroyed: fibres may run until the process ends.
  static StackPool &get() {
    static StackPool *pool = new StackPool;
    return *pool;
  }
  void map();
};

void StackPool::map() {
  const size_t guard = size_t(sysconf(_SC_PAGESIZE));
  const size_t each = kStackBytes + guard;
  free.reserve(free.size() + kStacksPerMapping);
  void *memory = mmap(nullptr, each * kStacksPerMapping, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw std::bad_alloc();
  for (int i = 0; i < kStacksPerMapping; ++i) {
    char *base = static_cast<char *>(memory) + i * each;
    // If the system refuses more mappings, this one goes without.
    (void)mprotect(base, guard, PROT_NONE);
    free.push_back({base + guard, kStackBytes - stagger});
    stagger = (stagger + kStagger) % kStaggered;
  }
}

#ifdef TESSERA_SIM_ASAN
Stack stackOfThisThread() {
  pthread_attr_t attributes;
  void *base = nullptr;
  size_t bytes = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &base, &bytes);
  pthread_attr_destroy(&attributes);
  return {static_cast<char *>(base), bytes};
}
#endif

} // namespace

Stack acquireStack() {
  StackPool &pool = StackPool::get();
  std::lock_guard lock(pool.mutex);
  if (pool.free.empty())
    pool.map();
  Stack stack = pool.free.back();
  pool.free.pop_back();
  return stack;
}

void releaseStack(Stack stack) {
  StackPool &pool = StackPool::get();
  std::lock_guard lock(pool.mutex);
  pool.free.push_back(stack);
}

Context::~Context() {
#ifdef TESSERA_SIM_TSAN
  if (stack.base && sanitizer)
    __tsan_destroy_fiber(sanitizer);
#endif
}

void Context::prepare(Stack onto, void (*function)(void *), void *value) {
  stack = onto;
  entry = function;
  argument = value;
#ifdef TESSERA_SIM_ASAN
  // The fibre before never returned from its last functions.
  __asan_unpoison_memory_region(stack.base, stack.bytes);
#endif
#ifdef TESSERA_SIM_TSAN
  sanitizer = __tsan_create_fiber(0);
#endif
#ifdef TESSERA_SIM_UCONTEXT
  getcontext(&machine);
  machine.uc_stack.ss_sp = stack.base;
  machine.uc_stack.ss_size = stack.bytes;
  machine.uc_link = nullptr;
  auto bits = reinterpret_cast<uintptr_t>(this);
  void (*start)(unsigned, unsigned) = [](unsigned high, unsigned low) {
    enter(reinterpret_cast<void *>(uintptr_t(high) << 32 | low));
  };
  makecontext(&machine, reinterpret_cast<void (*)()>(start), 2,
              unsigned(uint64_t(bits) >> 32), unsigned(bits));
#else
  // From the top: the address that the switch returns to, then rbp, rbx, r12
  // to r15. After the return the stack is aligned to 16 bytes, as a call needs.
  auto *top = reinterpret_cast<void **>(stack.base + stack.bytes);
  void **frame = top - 7;
  frame[0] = frame[1] = nullptr;               // r15, r14
  frame[2] = this;                             // r13
  frame[3] = reinterpret_cast<void *>(&enter); // r12
  frame[4] = frame[5] = nullptr;               // rbx, rbp
  frame[6] = reinterpret_cast<void *>(&tessera_sim_start);
  stackPointer = frame;
#endif
}

void Context::enter(void *self) {
#ifdef TESSERA_SIM_ASAN
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
  auto *context = static_cast<Context *>(self);
  context->entry(context->argument);
}

void Context::switchTo(Context &to) {
#ifdef TESSERA_SIM_ASAN
  if (!stack.base && !entry)
    stack = stackOfThisThread();
  __sanitizer_start_switch_fiber(&sanitizer, to.stack.base, to.stack.bytes);
#endif
#ifdef TESSERA_SIM_TSAN
  if (!entry)
    sanitizer = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.sanitizer, 0);
#endif
#ifdef TESSERA_SIM_UCONTEXT
  swapcontext(&machine, &to.machine);
#else
  tessera_sim_switch(&stackPointer, to.stackPointer);
#endif
#ifdef TESSERA_SIM_ASAN
  __sanitizer_finish_switch_fiber(sanitizer, nullptr, nullptr);
#endif
}

} // namespace tessera::runtime::sim
