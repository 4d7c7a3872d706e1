// Loads the kernels of programs, and fills in their launches for each call.
#include "runtime/cuda/Program.h"

#include "runtime/cuda/Staging.h"

#include <map>

namespace tessera::runtime::cuda {

namespace {

// The modules of this process's GPUs, which programs share.
std::shared_ptr<Module> moduleFor(Gpu &gpu, const ProgramCode::Image &image,
                                  const std::string &arch) {
  static auto &mutex = *new std::mutex;
  static auto &modules =
      *new std::map<std::pair<Gpu *, std::string>, std::weak_ptr<Module>>;
  std::lock_guard guard(mutex);
  std::erase_if(modules, [](auto &item) { return item.second.expired(); });
  std::weak_ptr<Module> &known = modules[{&gpu, image.symbol}];
  if (auto module = known.lock())
    return module;
  auto module =
      std::make_shared<Module>(gpu, Code{image.cubin, image.ptx, arch},
                               "the kernel \"" + image.symbol + "\"");
  known = module;
  return module;
}

} // namespace

Program::Program(Gpu &gpu, ProgramCode given)
    : theGpu(gpu), code(std::move(given)), graph(gpu) {
  std::vector<std::shared_ptr<Module>> modules;
  for (const ProgramCode::Image &image : code.images)
    modules.push_back(moduleFor(gpu, image, code.arch));
  for (const KernelLaunch &launch : code.launches) {
    std::shared_ptr<Module> module = modules.at(launch.image);
    Kernel kernel =
        module->kernel(launch.symbol, launch.sharedBytes, launch.place);
    kernels.push_back({std::move(module), std::move(kernel)});
  }
  for (ProgramCode::Image &image : code.images)
    image.cubin = image.ptx = {}; // the driver has them
}

void Program::run(void *const *buffers, const int64_t *dims, size_t arenaBytes,
                  std::span<const Copy> copies) const {
  Stream &stream = theGpu.stream();
  Memory arena, sizes;
  if (arenaBytes > 0)
    arena = Memory(theGpu, arenaBytes);
  if (code.symbols > 0) {
    const size_t bytes = size_t(code.symbols) * sizeof(int64_t);
    sizes = Memory(theGpu, bytes);
    theGpu.staging().upload(sizes.get(), dims, bytes, stream);
  }
  auto address = [&](const Reference &at) -> DevicePointer {
    switch (at.kind) {
    case Reference::Arena:
      return arena.get() + DevicePointer(offsetAt(at.offset, at.per, dims));
    case Reference::Dims:
      return sizes.get();
    default:
      return reinterpret_cast<DevicePointer>(buffers[at.index]) +
             DevicePointer(at.offset);
    }
  };
  std::vector<Command> commands;
  for (const Copy &copy : copies)
    if (copy.bytes > 0)
      commands.push_back(copy);
  for (size_t i = 0; i < code.launches.size(); ++i) {
    const KernelLaunch &launch = code.launches[i];
    int64_t blocks = launch.blocks.at(dims);
    if (blocks <= 0)
      continue;
    Launch command{&kernels[i].kernel,
                   {unsigned(blocks), 1, 1},
                   {launch.threads, 1, 1},
                   unsigned(launch.sharedBytes)};
    for (const Reference &reference : launch.references)
      command.arguments.push_back(address(reference));
    commands.push_back(std::move(command));
  }
  graph.run(stream, commands);
}

} // namespace tessera::runtime::cuda
