// Computes recorded values.
#pragma once

#include "frontend/Slice.h"
#include "tessera/Tensor.h"

namespace tessera::detail {

/// Makes the values of tensors known, those of other threads included. `what`
/// is what the user called: "item", "eval". Throws TraceError for a value that
/// a transform traces.
void evaluate(llvm::ArrayRef<Tensor> tensors, const char *what,
              std::source_location place);

/// The bytes of a tensor, evaluating it.
const runtime::Storage &storageOf(const Tensor &tensor, const char *what,
                                  std::source_location place);

/// Throws TraceError if a transform traces the value. The trace is locked.
void checkNotTraced(const TensorImpl &impl, Trace &trace, const char *what,
                    std::source_location place);

/// Throws TraceError if the transform that traced a value has ended.
void checkTraced(const TensorImpl &impl, Trace &trace, const char *what,
                 std::source_location place);

} // namespace tessera::detail
