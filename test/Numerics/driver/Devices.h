// The ways in which a test's function is evaluated.
#ifndef TESSERA_TEST_NUMERICS_DEVICES_H
#define TESSERA_TEST_NUMERICS_DEVICES_H

#include "lowering/CodeGen/Target.h"
#include "lowering/Reference/Interpreter.h"
#include <functional>
#include <optional>
#include <string>

namespace tessera::runtime {
class Executable;
}

namespace tessera::numerics {

using Tensors = std::vector<lowering::TensorBytes>;

/// One way to evaluate a function: prepared once, then run on many inputs.
struct Variant {
  std::string name;
  std::function<mlir::FailureOr<Tensors>(const Tensors &inputs)> run;
};

/// A device evaluates a function in several ways, all of which give the same
/// bits.
struct Device {
  const char *name;
  /// Whether functions such as exp, of which the contract does not fix the
  /// bits, agree with the oracle's too.
  bool exact;
  /// Products of narrow floats are on tensor cores, whose sums have no chunks:
  /// a long one may round to the next narrow float. Where products underflow,
  /// a zero may have either sign.
  bool hasTensorCores;
  /// Slow: of each function one element type is enough, drawn by the seed.
  bool sampled;
  /// Prepares all ways; fails with a diagnostic.
  mlir::FailureOr<std::vector<Variant>> (*prepare)(mlir::func::FuncOp function);
};

/// A compiled program, run on so many threads.
Variant compiledVariant(std::string name,
                        std::shared_ptr<const runtime::Executable> executable,
                        int threads);
/// The numbers of threads that are compared.
inline constexpr int kThreads[] = {1, 2, 3, 8};

/// How a program is compiled.
struct CpuSetting {
  const char *name;
  bool fuse, donate;
  std::optional<lowering::TargetInfo> target = {}; ///< none: this machine's CPU
};
inline const CpuSetting kUnfused{"unfused", false, false},
    kFused{"fused", true, false}, kDonated{"donated", true, true};

/// Compiles a copy of the function; fails with a diagnostic.
mlir::FailureOr<std::shared_ptr<runtime::Executable>>
compileFor(mlir::func::FuncOp function, const CpuSetting &setting);

/// The compiler on this machine's CPU, in each of the settings.
mlir::FailureOr<std::vector<Variant>>
prepareCpu(mlir::func::FuncOp function, llvm::ArrayRef<CpuSetting> settings);
/// Those that the numeric tests compare. Products of bf16 are also as on a CPU
/// with an instruction for them, and f16 is converted as on one without.
std::vector<CpuSetting> cpuSettings(mlir::func::FuncOp function);

/// An emulated GPU, with every check.
llvm::Expected<lowering::TargetInfo> simTarget();

/// GPU code in the emulator, with every check, which gives the bits of the
/// CPU's.
mlir::FailureOr<std::vector<Variant>>
prepareSim(mlir::func::FuncOp function,
           llvm::ArrayRef<CpuSetting> settings = {kFused, kUnfused});

/// GPU code as PTX, which is assembled for an architecture where ptxas is, and
/// must not spill. Nothing is run.
mlir::FailureOr<std::vector<Variant>> preparePtx(mlir::func::FuncOp function);

/// GPU code on a GPU, which on tensor cores need not give the CPU's bits.
mlir::FailureOr<std::vector<Variant>> prepareCuda(mlir::func::FuncOp function);
bool hasCuda();

/// Whether the function multiplies matrices of this element type.
bool multiplies(mlir::func::FuncOp function,
                llvm::function_ref<bool(mlir::Type)> isOfType);

/// All devices of this build.
llvm::ArrayRef<Device> devices();

} // namespace tessera::numerics

#endif
