// A compiled program on one GPU: its kernels, loaded, and its launches.
#pragma once

#include "runtime/SizeFormula.h"
#include "runtime/cuda/Allocator.h"
#include "runtime/cuda/Graph.h"

namespace tessera::runtime::cuda {

// A place in memory that a kernel gets a pointer to.
struct Reference {
  enum Kind : uint8_t { Buffer, Arena, Dims } kind = Buffer;
  int64_t index = 0;  // of the program's buffers: inputs, then outputs
  int64_t offset = 0; // in bytes; in the arena dimensions add to it
  std::vector<int64_t> per = {};
};

struct KernelLaunch {
  std::string symbol, place; // "train.cpp:12", or empty
  size_t image = 0;          // of ProgramCode::images
  unsigned threads = 0;
  int64_t sharedBytes = 0;
  SizeFormula blocks;
  std::vector<Reference> references;
};

// What a compiler makes of a program for GPUs of one architecture.
struct ProgramCode {
  struct Image {
    std::string symbol; // of its first kernel, which is named by its content
    std::string cubin, ptx;
  };
  std::string arch;
  std::vector<Image> images;
  std::vector<KernelLaunch> launches; // in order
  int64_t symbols = 0;                // dimensions
};

// Immutable but for its graph: any number of threads may run it at once.
class Program {
public:
  // Loads the kernels that this GPU has not loaded yet. Throws DeviceError.
  Program(Gpu &gpu, ProgramCode code);

  Gpu &gpu() const { return theGpu; }

  // Gives the launches to the GPU's default stream, as one graph, after
  // `copies`. `buffers` are addresses on the GPU, and the arena is allocated.
  // Whatever is freed afterwards is freed in stream order. Throws DeviceError
  // and OutOfDeviceMemory; what a kernel does wrong is thrown by a later call
  // that waits.
  void run(void *const *buffers, const int64_t *dims, size_t arenaBytes,
           std::span<const Copy> copies) const;

  // How often the launches were recorded as a graph.
  size_t recordings() const { return graph.recordings(); }

private:
  // Of one launch.
  struct Loaded {
    std::shared_ptr<Module> module;
    Kernel kernel;
  };

  Gpu &theGpu;
  ProgramCode code;
  std::vector<Loaded> kernels;
  mutable Graph graph;
};

} // namespace tessera::runtime::cuda
