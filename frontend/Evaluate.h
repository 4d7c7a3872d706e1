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

/// Computes values of one device that no transform traces. `cause` is what
/// error texts say has dropped the history. The trace is locked.
void evaluateOps(Trace &trace, llvm::ArrayRef<mlir::Operation *> ops,
                 const Device &device, const char *what, const char *cause,
                 std::source_location place);

/// Computes what newer ops and handles need of the older half of a trace, which
/// then goes, but for the history of leaves. The trace is locked.
void cutOlderHalf(Trace &trace, const char *name, std::source_location place);

/// The bytes of a tensor where the host can read them, valid as long as a
/// handle to it is. Evaluates it, and waits for a GPU.
const runtime::Storage &hostBytesOf(const Tensor &tensor, const char *what,
                                    std::source_location place);

/// The bytes of a tensor, evaluating it.
const runtime::Storage &storageOf(const Tensor &tensor, const char *what,
                                  std::source_location place);

/// Throws ValueError for a tensor that a call has used up.
void checkNotDonated(const TensorImpl &impl, const char *what,
                     std::source_location place);

/// Throws TraceError if a transform traces the value. The trace is locked.
void checkNotTraced(const TensorImpl &impl, Trace &trace, const char *what,
                    std::source_location place);

/// Throws TraceError if the transform that traced a value has ended.
void checkTraced(const TensorImpl &impl, Trace &trace, const char *what,
                 std::source_location place);

} // namespace tessera::detail
