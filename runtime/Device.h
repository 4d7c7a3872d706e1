// Where a tensor lives and is computed.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace tessera::runtime {

enum class DeviceKind : uint8_t {
  Cpu,       // compiled code for this machine
  Reference, // the interpreter of the dialect
  Sim,       // GPU code on the SIMT emulator, for one architecture
  Cuda,      // an NVIDIA GPU
};

// A small value: "cpu", "reference", "sim:sm_90" or "cuda:0".
class Device {
public:
  // The CPU.
  constexpr Device() = default;

  // Parses one of the forms above; std::invalid_argument if it is none. It is
  // not checked that the machine has such a device.
  explicit Device(std::string_view text);

  constexpr DeviceKind kind() const { return theKind; }

  // Which of several GPUs; 0 for the others.
  constexpr int ordinal() const { return theOrdinal; }

  // "sm_90" of "sim:sm_90"; empty for the others.
  std::string_view architecture() const { return arch.data(); }

  // Whether the host can read and write its memory.
  constexpr bool isHostMemory() const { return theKind != DeviceKind::Cuda; }

  std::string str() const;

  friend bool operator==(const Device &, const Device &) = default;
  friend auto operator<=>(const Device &, const Device &) = default;

private:
  DeviceKind theKind = DeviceKind::Cpu;
  int16_t theOrdinal = 0;
  std::array<char, 12> arch = {}; // ends in a zero byte
};

inline std::ostream &operator<<(std::ostream &os, const Device &device) {
  return os << device.str();
}

} // namespace tessera::runtime
