/* Compares what the runtime, the headers of compiled programs, and the main
 * function of executables say of the ABI. */
#define tessera_kernel_fn runtime_kernel_fn
#define tessera_host runtime_host
#include "runtime/HostAbi.h"
#undef tessera_kernel_fn
#undef tessera_host
#undef TESSERA_RUNTIME_HOSTABI_H /* the header brings its own */

#define main executable_main
#define program executable_program
#define tessera_tensor executable_tensor
#define tessera_symbol executable_symbol
#define tessera_program executable_program_type
#include "tools/tessera/main/program_main.c"
#undef main
#undef program
#undef tessera_tensor
#undef tessera_symbol
#undef tessera_program

#include "dense.h"

#define SAME_FIELD(a, b, field)                                                \
  _Static_assert(offsetof(struct a, field) == offsetof(struct b, field),       \
                 #field " is at another place");                               \
  _Static_assert(sizeof(((struct a *)0)->field) ==                             \
                     sizeof(((struct b *)0)->field),                           \
                 #field " has another size")
#define SAME_SIZE(a, b)                                                        \
  _Static_assert(sizeof(struct a) == sizeof(struct b), #a " has another size")

SAME_SIZE(runtime_host, tessera_host);
SAME_FIELD(runtime_host, tessera_host, parallel_for);
SAME_FIELD(runtime_host, tessera_host, context);
SAME_FIELD(runtime_host, tessera_host, threads);
_Static_assert(_Generic((tessera_kernel_fn)0, runtime_kernel_fn: 1, default: 0),
               "a kernel has other arguments");

SAME_SIZE(executable_tensor, tessera_tensor);
SAME_FIELD(executable_tensor, tessera_tensor, name);
SAME_FIELD(executable_tensor, tessera_tensor, dtype);
SAME_FIELD(executable_tensor, tessera_tensor, bytes);
SAME_FIELD(executable_tensor, tessera_tensor, rank);
SAME_FIELD(executable_tensor, tessera_tensor, use);
SAME_FIELD(executable_tensor, tessera_tensor, shape);
SAME_FIELD(executable_tensor, tessera_tensor, symbolic_dim);
SAME_FIELD(executable_tensor, tessera_tensor, symbol);
SAME_FIELD(executable_tensor, tessera_tensor, coefficient);
SAME_FIELD(executable_tensor, tessera_tensor, constant);

SAME_SIZE(executable_symbol, tessera_symbol);
SAME_FIELD(executable_symbol, tessera_symbol, name);
SAME_FIELD(executable_symbol, tessera_symbol, least);
SAME_FIELD(executable_symbol, tessera_symbol, most);
SAME_FIELD(executable_symbol, tessera_symbol, range);

SAME_SIZE(executable_program_type, tessera_program);
SAME_FIELD(executable_program_type, tessera_program, name);
SAME_FIELD(executable_program_type, tessera_program, hash);
SAME_FIELD(executable_program_type, tessera_program, arena_bytes);
SAME_FIELD(executable_program_type, tessera_program, arena_alignment);
SAME_FIELD(executable_program_type, tessera_program, count);
SAME_FIELD(executable_program_type, tessera_program, tensors);
SAME_FIELD(executable_program_type, tessera_program, symbol_count);
SAME_FIELD(executable_program_type, tessera_program, symbols);
SAME_FIELD(executable_program_type, tessera_program, arena_bytes_for);
SAME_FIELD(executable_program_type, tessera_program, run);
_Static_assert((int)kRead == (int)TESSERA_READ &&
                   (int)kWritten == (int)TESSERA_WRITTEN,
               "uses have other numbers");
