// The PTX of a whole program with comments that say how its kernels are
// launched.
#ifndef TESSERA_LOWERING_PTXLISTING_H
#define TESSERA_LOWERING_PTXLISTING_H

#include "lowering/Aot/Interface.h"
#include "lowering/CodeGen/PlanEntry.h"

namespace tessera::lowering {

/// A program for a GPU whose kernels' PTX is one text.
struct PtxProgram {
  std::string ptx, arch;
  Plan plan;
  Interface interface;
  /// Of every symbol that the plan launches.
  std::vector<LaunchInfo> launches;
};

/// The PTX, valid as it is, with a comment at its head that lists the arena and
/// the launches in order, and one before each kernel: its launches, threads,
/// dynamic shared memory, and the user's line.
std::string listPtx(const PtxProgram &program);

} // namespace tessera::lowering

#endif
