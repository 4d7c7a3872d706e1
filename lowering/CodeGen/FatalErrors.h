// Turns LLVM's fatal errors, such as an instruction that cannot be selected,
// into errors.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace tessera::lowering {

/// Runs `work`. If LLVM reports a fatal error on this thread meanwhile, `work`
/// is left at that point without unwinding, and the error is returned: whatever
/// `work` was using must then be leaked, not destroyed. `work` must not throw.
/// A fatal error outside of any guard ends the process as LLVM does by itself.
llvm::Error runGuarded(llvm::function_ref<void()> work);

} // namespace tessera::lowering
