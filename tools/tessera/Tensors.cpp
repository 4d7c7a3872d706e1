// Values in and out, and the calls between.
#include "tools/tessera/Tensors.h"
#include "frontend/io/Npy.h"
#include "lowering/CodeGen/GpuTarget.h"
#include "lowering/Compiler.h"
#include "lowering/GPU/Sim/Launches.h"
#include "lowering/Reference/Interpreter.h"
#include "mlir/IR/Diagnostics.h"
#include "runtime/cuda/Stream.h"
#include "runtime/sim/Session.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

using namespace llvm;
using namespace tessera::lowering;
using tessera::runtime::DType;
using tessera::runtime::Storage;

namespace tessera::tool {

//===-- Elements --===//

static double floatFrom(uint16_t bits, const fltSemantics &semantics) {
  APFloat value(semantics, APInt(16, bits));
  bool loses;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return value.convertToDouble();
}

static uint16_t floatTo(double number, const fltSemantics &semantics) {
  APFloat value(number);
  bool loses;
  value.convert(semantics, APFloat::rmNearestTiesToEven, &loses);
  return uint16_t(value.bitcastToAPInt().getZExtValue());
}

template <typename T> static T loaded(const void *data, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + i * int64_t(sizeof(T)),
              sizeof(T));
  return value;
}

static double element(DType dtype, const void *data, int64_t i) {
  switch (dtype) {
  case DType::boolean:
    return loaded<uint8_t>(data, i);
  case DType::i8:
    return loaded<int8_t>(data, i);
  case DType::i16:
    return loaded<int16_t>(data, i);
  case DType::i32:
    return loaded<int32_t>(data, i);
  case DType::i64:
    return double(loaded<int64_t>(data, i));
  case DType::f16:
    return floatFrom(loaded<uint16_t>(data, i), APFloat::IEEEhalf());
  case DType::bf16:
    return floatFrom(loaded<uint16_t>(data, i), APFloat::BFloat());
  case DType::f32:
    return loaded<float>(data, i);
  default:
    return loaded<double>(data, i);
  }
}

template <typename T> static void stored(void *data, int64_t i, T value) {
  std::memcpy(static_cast<char *>(data) + i * int64_t(sizeof(T)), &value,
              sizeof(T));
}

static void setElement(DType dtype, void *data, int64_t i, double value) {
  switch (dtype) {
  case DType::boolean:
    return stored<uint8_t>(data, i, value != 0);
  case DType::i8:
    return stored<int8_t>(data, i, int8_t(value));
  case DType::i16:
    return stored<int16_t>(data, i, int16_t(value));
  case DType::i32:
    return stored<int32_t>(data, i, int32_t(value));
  case DType::i64:
    return stored<int64_t>(data, i, int64_t(value));
  case DType::f16:
    return stored<uint16_t>(data, i, floatTo(value, APFloat::IEEEhalf()));
  case DType::bf16:
    return stored<uint16_t>(data, i, floatTo(value, APFloat::BFloat()));
  case DType::f32:
    return stored<float>(data, i, float(value));
  default:
    return stored<double>(data, i, value);
  }
}

static DType dtype(const Port &port) {
  return dtypeOf(port.type.getElementType());
}

//===-- Arguments --===//

static Storage copyOf(const io::RawTensor &tensor) {
  Storage value = Storage::allocate(tensor.bytes.size);
  if (tensor.bytes.size)
    std::memcpy(value.data(), tensor.bytes.data.get(), tensor.bytes.size);
  return value;
}

static Storage fromFile(const Port &port, StringRef file) {
  io::RawTensor tensor = io::readNpy(file.str());
  tensor.normaliseBooleans();
  if (io::typeText(tensor.dtype, tensor.shape) != typeName(port.type))
    fail(file + ": it holds " + io::typeText(tensor.dtype, tensor.shape) +
         ", but '" + port.name + "' is " + typeName(port.type));
  return copyOf(tensor);
}

/// Normal numbers; integers from 0 to 9, so that they may be indices.
static Storage randomValue(const Port &port, std::mt19937_64 &generator) {
  Storage value = Storage::allocate(size_t(port.bytes()));
  std::normal_distribution<double> normal;
  DType type = dtype(port);
  for (int64_t i = 0; i < port.elements(); ++i) {
    double number = runtime::isFloat(type)   ? normal(generator)
                    : type == DType::boolean ? double(generator() & 1)
                                             : double(generator() % 10);
    setElement(type, value.data(), i, number);
  }
  return value;
}

static Storage givenValue(const Port &port, StringRef text,
                          std::mt19937_64 &generator) {
  if (text.consume_front("@"))
    return fromFile(port, text);
  if (text == "random")
    return randomValue(port, generator);
  double number = 0;
  if (text != "zeros" && text.getAsDouble(number))
    failUsage("--input " + port.name + " is '" + text +
              "', and not @FILE.npy, a number, random or zeros");
  Storage value = Storage::allocate(size_t(port.bytes()));
  for (int64_t i = 0; i < port.elements(); ++i)
    setElement(dtype(port), value.data(), i, number);
  return value;
}

std::vector<Storage> argumentValues(Program &program,
                                    const Arguments &arguments) {
  std::map<std::string, std::string> given = arguments.assignments(OPT_input);
  std::mt19937_64 generator(
      uint64_t(arguments.integer(OPT_seed, 0, INT64_MAX, 0)));
  std::vector<Storage> values;
  SmallVector<StringRef> names;
  for (const Port &port : program.interface().arguments) {
    names.push_back(port.name);
    auto text = given.find(port.name);
    const io::RawTensor *weight =
        port.isWeight ? program.weight(port.name) : nullptr;
    if (text != given.end())
      values.push_back(givenValue(port, text->second, generator));
    else
      values.push_back(weight ? copyOf(*weight) : randomValue(port, generator));
    given.erase(port.name);
  }
  for (const auto &[name, value] : given)
    fail("--input: there is no argument '" + name + "'" +
         suggestion(name, names));
  return values;
}

//===-- Calls --===//

static runtime::Device deviceOf(const Arguments &arguments) {
  std::string name = arguments.text(OPT_device, "cpu");
  try {
    return runtime::Device(name);
  } catch (const std::invalid_argument &) {
    failUsage("--device is '" + name +
              "', and not cpu, reference, a GPU such as cuda:0 or an emulated "
              "one such as sim:sm_90");
  }
}

/// The emulated GPU, with the checks that are asked for.
static TargetInfo emulatedTarget(const runtime::Device &device,
                                 const Arguments &arguments) {
  if (arguments.has(OPT_sim_check))
    setenv("TESSERA_SIM_CHECK", arguments.text(OPT_sim_check).c_str(), 1);
  try {
    (void)runtime::sim::checksFromEnvironment({});
    (void)runtime::sim::seedFromEnvironment();
  } catch (const std::invalid_argument &error) {
    failUsage(error.what());
  }
  auto target = emulatedTargetFor(device.architecture());
  if (!target)
    failUsage("--device: " + toString(target.takeError()));
  chooseTF32(*target);
  return *target;
}

/// The architecture of a GPU.
static TargetInfo gpuTarget(const runtime::Device &device) {
  auto target =
      gpuTargetRunningOn(runtime::cuda::Gpu::at(device.ordinal()).info().arch);
  if (!target)
    fail(target.takeError());
  chooseTF32(*target);
  return *target;
}

Runner::Runner(Program &program, const Arguments &arguments)
    : program(program), device(deviceOf(arguments)),
      threads(int(arguments.integer(OPT_threads, 1, 1024, 0))) {
  isReference = device.kind() == runtime::DeviceKind::Reference;
  if (device.kind() != runtime::DeviceKind::Sim)
    arguments.refuse({OPT_sim_check}, "without an emulated GPU");
  if (isReference) { // it knows no kernels and no threads
    arguments.refuse({OPT_no_fuse, OPT_threads, OPT_dump_to},
                     "with --device=reference");
    return;
  }
  ProgramOptions options;
  options.fuse = isFusing(arguments);
  options.threads = threads;
  options.dump = dumpFolder(arguments);
  if (device.kind() == runtime::DeviceKind::Sim)
    options.target = emulatedTarget(device, arguments);
  if (device.kind() == runtime::DeviceKind::Cuda) {
    options.target = gpuTarget(device);
    options.gpu = device.ordinal();
  }
  std::string error;
  auto compiled = compile(program.module(), options, error);
  if (failed(compiled))
    failCompilation(error);
  executable = std::move(*compiled);
}

std::vector<Storage> Runner::place(ArrayRef<Storage> inputs) {
  std::vector<Storage> placed;
  for (const Storage &input : inputs)
    placed.push_back(input.on(device));
  return placed;
}

void Runner::wait() {
  if (device.kind() == runtime::DeviceKind::Cuda)
    runtime::cuda::Gpu::at(device.ordinal()).stream().synchronize();
}

std::vector<Storage> Runner::run(ArrayRef<Storage> inputs) {
  std::vector<Storage> outputs(program.interface().results.size());
  if (!isReference) {
    std::vector<Storage> handles(inputs.begin(), inputs.end());
    try {
      runtime::Status status = executable->run(handles, outputs, threads);
      if (!status.ok())
        fail("the program ended with code " + Twine(status.code),
             kInternalError);
    } catch (const runtime::sim::Fault &fault) {
      fail(fault.what(), kInternalError);
    }
    return outputs;
  }
  std::vector<TensorBytes> bytes;
  for (const Storage &input : inputs) {
    auto *data = static_cast<const uint8_t *>(input.data());
    bytes.emplace_back(data, data + input.bytes());
  }
  std::string error;
  mlir::ScopedDiagnosticHandler handler(program.module()->getContext(),
                                        [&](mlir::Diagnostic &diagnostic) {
                                          error += diagnostic.str() + "\n";
                                          return success();
                                        });
  auto results = interpret(program.main(), bytes);
  if (failed(results))
    fail(StringRef(error).rtrim());
  for (auto [result, output] : zip_equal(*results, outputs)) {
    output = Storage::allocate(result.size());
    if (!result.empty())
      std::memcpy(output.data(), result.data(), result.size());
  }
  return outputs;
}

//===-- Results --===//

static std::string text(DType type, const void *data, int64_t i) {
  double value = element(type, data, i);
  if (type == DType::boolean)
    return value != 0 ? "true" : "false";
  if (type == DType::i64)
    return std::to_string(loaded<int64_t>(data, i));
  if (!runtime::isFloat(type))
    return std::to_string(int64_t(value));
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  std::string digits;
  raw_string_ostream(digits)
      << format(type == DType::f64 ? "%.12g" : "%.6g", value);
  return digits;
}

std::string printed(const Port &port, const Storage &value) {
  constexpr int64_t kMost = 64;
  std::string line = port.name + " " + typeName(port.type) + ":";
  for (int64_t i = 0; i < std::min(port.elements(), kMost); ++i)
    line += " " + text(dtype(port), value.data(), i);
  if (port.elements() > kMost)
    line += " ... (" + std::to_string(port.elements() - kMost) + " more)";
  return line + "\n";
}

static std::string indexText(const Port &port, int64_t position) {
  SmallVector<std::string> parts;
  for (int64_t size : reverse(port.type.getShape())) {
    parts.push_back(std::to_string(position % size));
    position /= size;
  }
  return "[" + join(reverse(parts), ",") + "]";
}

std::string difference(const Port &port, const Storage &value,
                       const io::RawTensor &expected, double rtol,
                       double atol) {
  std::string type = io::typeText(expected.dtype, expected.shape);
  if (type != typeName(port.type))
    return port.name + " is " + typeName(port.type) + ", and not " + type;
  int64_t wrong = 0, first = -1;
  double worst = 0;
  for (int64_t i = 0; i < port.elements(); ++i) {
    double a = element(dtype(port), value.data(), i);
    double b = element(dtype(port), expected.bytes.data.get(), i);
    bool fits = a == b || (std::isnan(a) && std::isnan(b)) ||
                std::abs(a - b) <= atol + rtol * std::abs(b);
    if (fits)
      continue;
    if (wrong++ == 0)
      first = i;
    worst = std::max(worst, std::abs(a - b));
  }
  if (wrong == 0)
    return "";
  std::string words;
  raw_string_ostream(words)
      << port.name << " differs in " << wrong << " of " << port.elements()
      << " elements, by at most " << format("%.3g", worst) << "; first at "
      << indexText(port, first) << ": "
      << text(dtype(port), value.data(), first) << ", and not "
      << text(dtype(port), expected.bytes.data.get(), first);
  return words;
}

io::RawTensor asFile(const Port &port, const Storage &value) {
  auto shape = port.type.getShape();
  return {port.name,
          dtype(port),
          {shape.begin(), shape.end()},
          io::Bytes::borrow(value.data(), size_t(port.bytes()))};
}

} // namespace tessera::tool
