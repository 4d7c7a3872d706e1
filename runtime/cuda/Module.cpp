// Loading of cubins and PTX, and launches.
#include "runtime/cuda/Module.h"

#include <cstdlib>

namespace tessera::runtime::cuda {

Module::Module(Gpu &gpu, const Code &code, std::string name)
    : theGpu(gpu), name(std::move(name)) {
  gpu.checkAlive();
  ContextScope current(gpu);
  std::string log;
  Result result = Result::NoBinaryForGpu;
  if (!code.cubin.empty())
    result = load(code.cubin, log);
  // A cubin of another architecture, or of a newer CUDA than the driver knows.
  bool isRefused = result == Result::NoBinaryForGpu ||
                   result == Result::InvalidImage ||
                   result == Result::UnsupportedPtxVersion;
  if (isRefused && !code.ptx.empty())
    result = load(code.ptx, log);
  if (result != Result::Success)
    fail(result, code, log);
}

Module::~Module() {
  QuietContextScope current(theGpu);
  if (!current)
    return;
  theGpu.driver().contextSynchronize(); // its kernels may be running
  theGpu.driver().moduleUnload(handle);
}

Result Module::load(std::string_view image, std::string &log) {
  std::string text(image); // PTX must end in a zero byte
  char errors[4096] = {};
  JitOption options[] = {JitOption::ErrorLog, JitOption::ErrorLogBytes};
  void *values[] = {errors, reinterpret_cast<void *>(sizeof(errors) - 1)};
  Result result =
      theGpu.driver().moduleLoad(&handle, text.c_str(), 2, options, values);
  log = errors;
  while (!log.empty() && (log.back() == '\n' || log.back() == ' '))
    log.pop_back();
  return result;
}

void Module::fail(Result result, const Code &code, const std::string &log) {
  const Driver &driver = theGpu.driver();
  const std::string gpuText = theGpu.str() + " (" + theGpu.info().name + ", " +
                              theGpu.info().arch + ")";
  const std::string codeArch =
      code.arch.empty() ? "another architecture" : std::string(code.arch);
  switch (result) {
  case Result::UnsupportedPtxVersion:
    throw DeviceError(
        Fault::DriverTooOld,
        "the CUDA driver, of CUDA " + versionText(driver.version) +
            ", is too old for the code of " + name +
            ": install a newer driver, or NVIDIA's nvJitLink library, with "
            "which the driver needs to compile nothing",
        result);
  case Result::JitCompilerNotFound:
    throw DeviceError(
        Fault::BadCode,
        "the CUDA driver cannot compile " + name +
            ", since its compiler (libnvidia-ptxjitcompiler.so.1) is not "
            "here: install it, or NVIDIA's nvJitLink library",
        result);
  case Result::NoBinaryForGpu:
    throw DeviceError(Fault::WrongArch,
                      name + " was compiled for " + codeArch + ", and " +
                          gpuText + " does not run that: compile it for " +
                          theGpu.info().arch,
                      result);
  case Result::InvalidImage:
  case Result::InvalidPtx:
    throw DeviceError(Fault::BadCode,
                      "the CUDA driver does not take the code of " + name +
                          " for " + gpuText + (log.empty() ? "" : ": " + log),
                      result);
  default:
    theGpu.check(result, "loading " + name);
    std::abort(); // check() throws
  }
}

Kernel Module::kernel(const std::string &symbol, int64_t dynamicShared,
                      const std::string &line) {
  theGpu.checkAlive();
  ContextScope current(theGpu);
  const Driver &driver = theGpu.driver();
  Kernel kernel;
  kernel.theName = symbol;
  kernel.thePlace =
      "\"" + symbol + "\"" + (line.empty() ? "" : " (" + line + ")");
  Result found =
      driver.moduleGetFunction(&kernel.handle, handle, symbol.c_str());
  if (found == Result::NotFound)
    throw DeviceError(Fault::BadCode, name + " has no kernel " + symbol, found);
  theGpu.check(found, "finding the kernel " + kernel.thePlace);
  auto attribute = [&](FunctionAttribute which) {
    int value = 0;
    theGpu.check(driver.functionGetAttribute(&value, which, kernel.handle),
                 "asking about the kernel " + kernel.thePlace);
    return value;
  };
  kernel.theRegisters = attribute(FunctionAttribute::Registers);
  kernel.declaredShared = attribute(FunctionAttribute::SharedBytes);
  int64_t shared = kernel.declaredShared + dynamicShared;
  if (shared > theGpu.info().sharedPerBlock)
    throw DeviceError(Fault::SharedMemory,
                      "the kernel " + kernel.thePlace + " needs " +
                          std::to_string(shared) +
                          " bytes of shared memory, and " + theGpu.str() +
                          " (" + theGpu.info().arch + ") has " +
                          std::to_string(theGpu.info().sharedPerBlock) +
                          " a block: compile it for " + theGpu.info().arch);
  if (dynamicShared > 0)
    theGpu.check(driver.functionSetAttribute(
                     kernel.handle, FunctionAttribute::MaxDynamicShared,
                     int(dynamicShared)),
                 "asking for shared memory for the kernel " + kernel.thePlace);
  return kernel;
}

void launch(Stream &stream, const Launch &launch) {
  const auto &[x, y, z] = launch.grid;
  if (x == 0 || y == 0 || z == 0)
    return;
  Gpu &gpu = stream.gpu();
  gpu.checkAlive();
  ContextScope current(gpu);
  std::vector<void *> parameters;
  for (const uint64_t &cell : launch.arguments)
    parameters.push_back(const_cast<uint64_t *>(&cell));
  stream.noteLaunch(launch.kernel->place());
  const auto &block = launch.block;
  stream.check(gpu.driver().launchKernel(launch.kernel->get(), x, y, z,
                                         block[0], block[1], block[2],
                                         launch.sharedBytes, stream.get(),
                                         parameters.data(), nullptr),
               "launching the kernel " + launch.kernel->place());
}

} // namespace tessera::runtime::cuda
