// Plans in the runtime's terms.
#include "lowering/DeviceProgram.h"
#include "lowering/CodeGen/GpuTarget.h"
#include "lowering/GPU/Sim/Launches.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace tessera::lowering {

namespace cuda = runtime::cuda;

static cuda::Reference referenceOf(const BufferRef &ref) {
  constexpr cuda::Reference::Kind kKinds[] = {
      cuda::Reference::Buffer, cuda::Reference::Arena, cuda::Reference::Dims};
  return {kKinds[ref.kind], ref.index, ref.offset, ref.per};
}

cuda::ProgramCode programCode(const Plan &plan, ArrayRef<KernelObject> kernels,
                              const TargetInfo &target) {
  cuda::ProgramCode code;
  code.arch = target.cpu;
  code.symbols = plan.symbols;
  struct Known {
    size_t image;
    const LaunchInfo *launch;
  };
  StringMap<Known> known;
  for (const KernelObject &kernel : kernels) {
    if (kernel.launches.empty() ||
        known.contains(kernel.launches.front().symbol))
      continue;
    for (const LaunchInfo &launch : kernel.launches)
      known[launch.symbol] = {code.images.size(), &launch};
    code.images.push_back(
        {kernel.launches.front().symbol, kernel.machineCode, kernel.bytes});
  }
  for (const PlanLaunch &launch : plan.launches) {
    const Known &kernel = known.at(launch.symbol);
    cuda::KernelLaunch &call = code.launches.emplace_back();
    call.symbol = launch.symbol;
    call.place = launch.place;
    call.image = kernel.image;
    call.threads = unsigned(kernel.launch->threads);
    call.sharedBytes = kernel.launch->sharedBytes;
    call.blocks = {launch.tiles, launch.tileTerms};
    for (const BufferRef &ref : launch.buffers)
      call.references.push_back(referenceOf(ref));
  }
  return code;
}

Expected<std::shared_ptr<void>>
addToEmulatedDriver(ArrayRef<KernelJob> jobs, ArrayRef<KernelObject> kernels,
                    KernelCompileOptions options) {
  const cuda::Driver &driver = cuda::Driver::instance();
  Expected<TargetInfo> emulated = emulatedTargetFor(options.target.cpu);
  if (!emulated)
    return emulated.takeError();
  emulated->allowsTF32 = options.target.allowsTF32;
  options.target = *emulated;
  options.lowering = &emulatorLowering;
  options.dump = nullptr;
  if (Error error = defineEmulator())
    return std::move(error);
  auto loaded = compileKernels(jobs, options);
  if (!loaded)
    return loaded.takeError();
  for (auto [kernel, twin] : zip_equal(kernels, *loaded))
    for (auto [launch, code] : zip_equal(kernel.launches, twin->launches))
      driver.addKernel(
          launch.symbol.c_str(),
          reinterpret_cast<tessera_kernel_fn>(twin->code->lookup(code.symbol)));
  using Loaded = std::vector<std::shared_ptr<const CompiledObject>>;
  return std::make_shared<Loaded>(std::move(*loaded));
}

} // namespace tessera::lowering
