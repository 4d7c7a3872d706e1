// The test driver's modules, which it reads from PTX, and launches.
#include "test/Cuda/World.h"

#include <cstring>
#include <memory>
#include <regex>

using namespace tessera::test;

namespace {

// A cubin of the tests: this, the architecture and a line end, then PTX.
constexpr std::string_view kCubin = "CUBIN ";

size_t bytesOfType(const std::string &type) {
  return std::stoul(type.substr(1)) / 8; // u64, f32, b16
}

// Reads the signatures of the kernels.
void readKernels(const std::string &ptx, CUmod_st &module) {
  static const std::regex entry(R"(\.entry\s+([\w$.]+)\s*\(([^)]*)\))");
  static const std::regex parameter(R"(\.param\s+\.([usbf]\d+))");
  static const std::regex shared(R"(\.shared[^;\[]*\.b8\s+[\w$.]+\[(\d+)\])");
  auto end = std::sregex_iterator();
  for (std::sregex_iterator it(ptx.begin(), ptx.end(), entry); it != end;
       ++it) {
    auto function = std::make_unique<CUfunc_st>();
    function->name = (*it)[1];
    function->module = &module;
    std::string list = (*it)[2];
    for (std::sregex_iterator p(list.begin(), list.end(), parameter); p != end;
         ++p)
      function->parameters.push_back(bytesOfType((*p)[1]));
    module.functions[function->name] = std::move(function);
  }
  for (std::sregex_iterator it(ptx.begin(), ptx.end(), shared); it != end; ++it)
    module.sharedBytes += std::stoi((*it)[1]);
}

// What the driver thinks of the PTX's version and architecture.
Result judge(const World &world, const TestDevice &device,
             const std::string &ptx) {
  static const std::regex version(R"(\.version\s+(\d+)\.(\d+))");
  static const std::regex target(R"(\.target\s+sm_(\d+))");
  std::smatch v, t;
  if (!std::regex_search(ptx, v, version) || !std::regex_search(ptx, t, target))
    return Result::InvalidPtx;
  // PTX 8.0 is of CUDA 12.0, and each minor version of the next.
  int needed = (std::stoi(v[1]) + 4) * 1000 + std::stoi(v[2]) * 10;
  if (needed > world.version)
    return Result::UnsupportedPtxVersion;
  if (std::stoi(t[1]) > device.major * 10 + device.minor)
    return Result::NoBinaryForGpu;
  return Result::Success;
}

void writeLog(unsigned count, JitOption *options, void **values,
              const char *text) {
  char *log = nullptr;
  size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == JitOption::ErrorLog)
      log = static_cast<char *>(values[i]);
    if (options[i] == JitOption::ErrorLogBytes)
      bytes = reinterpret_cast<size_t>(values[i]);
  }
  if (log)
    std::snprintf(log, bytes, "%s", text);
}

bool isAlive(const World &world, const CUfunc_st *function) {
  for (const CUmod_st *module : world.modules)
    for (const auto &[name, candidate] : module->functions)
      if (candidate.get() == function)
        return true;
  return false;
}

} // namespace

namespace tessera::test {

bool readLaunch(Call &call, CUfunc_st *function, const unsigned *grid,
                const unsigned *block, unsigned sharedBytes, void **parameters,
                TestLaunch &launch) {
  if (!isAlive(World::instance(), function)) {
    call.misuse("a kernel that is not loaded");
    return false;
  }
  if (function->module->context != call.context()) {
    call.misuse("a kernel of another context");
    return false;
  }
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = grid[i];
    launch.block[i] = block[i];
  }
  size_t threads = size_t(block[0]) * block[1] * block[2];
  if (!grid[0] || !grid[1] || !grid[2] || threads == 0 || threads > 1024) {
    call.misuse("a grid or a block of this size");
    return false;
  }
  if (int(sharedBytes) > function->dynamicShared) {
    call.misuse("more shared memory than was asked for");
    return false;
  }
  launch.kernel = function->name;
  launch.sharedBytes = sharedBytes;
  for (size_t i = 0; i < function->parameters.size(); ++i) {
    auto *value = static_cast<unsigned char *>(parameters[i]);
    launch.arguments.emplace_back(value, value + function->parameters[i]);
  }
  return true;
}

} // namespace tessera::test

extern "C" {

Result cuModuleLoadDataEx(ModuleHandle *module, const void *image,
                          unsigned count, JitOption *options, void **values) {
  ENTER(cuModuleLoadDataEx, true);
  std::string text = static_cast<const char *>(image);
  const TestDevice &device = world.devices[call.context()->device];
  if (text.starts_with("\x7f"
                       "ELF"))
    return Result::NoBinaryForGpu; // a real one, which nothing here can run
  if (text.starts_with(kCubin)) {
    std::string arch =
        text.substr(kCubin.size(), text.find('\n') - kCubin.size());
    if (arch != "sm_" + std::to_string(device.major * 10 + device.minor))
      return Result::NoBinaryForGpu;
    text.erase(0, text.find('\n') + 1);
  } else if (Result result = judge(world, device, text);
             result != Result::Success) {
    writeLog(count, options, values, "ptxas: the test driver's log\n");
    return result;
  }
  *module = new CUmod_st;
  (*module)->context = call.context();
  readKernels(text, **module);
  world.modules.insert(*module);
  return Result::Success;
}

Result cuModuleUnload(ModuleHandle module) {
  ENTER(cuModuleUnload, true);
  if (!call.owns(world.modules, module))
    return call.result();
  world.modules.erase(module);
  for (CUstream_st *stream : world.streams)
    for (const auto &operation : stream->queue)
      for (const auto &[name, function] : module->functions)
        if (operation.name == "launch of " + name)
          call.misuse("a kernel of it is still to run");
  delete module;
  return Result::Success;
}

Result cuModuleGetFunction(FunctionHandle *function, ModuleHandle module,
                           const char *name) {
  ENTER(cuModuleGetFunction, true);
  if (!call.owns(world.modules, module))
    return call.result();
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return Result::NotFound;
  *function = found->second.get();
  return Result::Success;
}

Result cuFuncGetAttribute(int *value, FunctionAttribute attribute,
                          FunctionHandle function) {
  ENTER(cuFuncGetAttribute, true);
  if (!isAlive(world, function))
    return call.misuse("a kernel that is not loaded");
  *value = attribute == FunctionAttribute::SharedBytes
               ? function->module->sharedBytes
           : attribute == FunctionAttribute::Registers
               ? 32
               : function->dynamicShared;
  return Result::Success;
}

Result cuFuncSetAttribute(FunctionHandle function, FunctionAttribute attribute,
                          int value) {
  ENTER(cuFuncSetAttribute, true);
  if (!isAlive(world, function))
    return call.misuse("a kernel that is not loaded");
  if (attribute != FunctionAttribute::MaxDynamicShared)
    return call.misuse("this attribute cannot be set");
  if (value > world.devices[call.context()->device].sharedPerBlock)
    return Result::InvalidValue;
  function->dynamicShared = value;
  return Result::Success;
}

Result cuLaunchKernel(FunctionHandle function, unsigned gridX, unsigned gridY,
                      unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned sharedBytes,
                      StreamHandle stream, void **parameters, void **extra) {
  ENTER(cuLaunchKernel, true);
  if (!call.owns(world.streams, stream))
    return call.result();
  if (extra)
    return call.misuse("extra");
  unsigned grid[] = {gridX, gridY, gridZ}, block[] = {blockX, blockY, blockZ};
  TestLaunch launch;
  if (!readLaunch(call, function, grid, block, sharedBytes, parameters, launch))
    return call.result();
  world.enqueue(stream, kernelOperation(world, function, launch));
  return Result::Success;
}

// Kernels of programs, as functions that run on the emulator: see
// runtime/cuda/Driver.h.
void tesseraAddKernel(const char *symbol, tessera_kernel_fn code) {
  World &world = World::instance();
  std::lock_guard guard(world.mutex);
  world.kernels[symbol] = code;
}

} // extern "C"
