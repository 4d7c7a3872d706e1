// Compares a kernel's figures with its budget.
#include "test/Gpu/driver/PtxCheck.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace tessera::lowering;

namespace tessera::test {

namespace {

/// Whether one of the texts, with | between them, is there.
bool containsAny(StringRef ptx, StringRef texts) {
  for (StringRef text : split(texts, '|'))
    if (ptx.contains(text))
      return true;
  return false;
}

class Checker {
public:
  Checker(const TargetInfo &target, const PtxBudget &budget, PtxReport &report)
      : target(target), budget(budget), report(report) {}

  void texts(StringRef ptx) {
    for (const std::string &text : budget.expected)
      if (!containsAny(ptx, text))
        fault("no '" + text + "' in the PTX");
    for (const std::string &text : budget.forbidden)
      if (ptx.contains(text))
        fault("'" + text + "' in the PTX");
    // A contraction would round once where the contract rounds twice; denormals
    // are numbers.
    for (const char *text :
         {"mul.f32", "add.f32", "mul.f64", "add.f64", ".ftz", ".approx"})
      if (ptx.contains(text))
        fault("'" + std::string(text) + "' in the PTX, against the contract");
  }

  void kernel(const KernelUsage &usage, const LaunchInfo *launch) {
    PtxFigures figures{usage, usage.shared, {}};
    int threads = launch ? static_cast<int>(launch->threads) : 32;
    if (launch)
      figures.shared += launch->sharedBytes;
    figures.occupancy =
        occupancyOf(*target.gpu, threads, usage.registers, figures.shared);
    limit(usage, "registers", usage.registers, budget.maxRegisters);
    limit(usage, "bytes spilled", usage.spillStores + usage.spillLoads,
          budget.maxSpill);
    limit(usage, "bytes of shared memory", figures.shared,
          budget.maxShared ? budget.maxShared : target.gpu->sharedPerBlock);
    if (figures.occupancy.blocks == 0)
      fault(usage.name +
            ": no block fits: " + figures.occupancy.limitedBy.str());
    else if (figures.occupancy.fraction < budget.minOccupancy)
      fault(formatv("{0}: occupancy {1:P0} is below {2:P0}, limited by {3}",
                    usage.name, figures.occupancy.fraction, budget.minOccupancy,
                    figures.occupancy.limitedBy));
    report.kernels.push_back(std::move(figures));
  }

  void fault(const std::string &text) {
    report.faults.push_back(target.cpu + ": " + text);
  }

private:
  void limit(const KernelUsage &usage, StringRef what, int64_t is,
             int64_t most) {
    if (is > most)
      fault(formatv("{0}: {1} {2}, more than {3}", usage.name, is, what, most));
  }

  const TargetInfo &target;
  const PtxBudget &budget;
  PtxReport &report;
};

} // namespace

PtxReport checkPtx(StringRef ptx, const TargetInfo &target,
                   ArrayRef<LaunchInfo> launches, const PtxBudget &budget) {
  PtxReport report;
  Checker checker(target, budget, report);
  checker.texts(ptx);
  if (!findAssembler())
    return report;
  Expected<std::vector<KernelUsage>> kernels = assemblePtx(ptx, target.cpu);
  if (!kernels) {
    checker.fault(toString(kernels.takeError()));
    return report;
  }
  report.assembled = true;
  if (kernels->empty())
    checker.fault("it holds no kernel");
  for (const KernelUsage &usage : *kernels) {
    const LaunchInfo *launch = find_if(launches, [&](const LaunchInfo &info) {
      return info.symbol == usage.name;
    });
    checker.kernel(usage, launch == launches.end() ? nullptr : launch);
  }
  return report;
}

} // namespace tessera::test
