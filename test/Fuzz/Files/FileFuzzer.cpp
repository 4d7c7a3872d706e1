// libFuzzer's entry for one file format, chosen by FORMAT: bytes from anywhere
// are read, or refused with a FileError.
#include "frontend/io/Npy.h"
#include "frontend/io/Npz.h"
#include "frontend/io/Safetensors.h"
#include <cstdlib>

using namespace tessera::io;

/// What was read must be consistent, whatever the bytes were.
static void check(const RawTensor &tensor) {
  auto bytes = checkedByteSize(tensor.shape, tensor.dtype);
  if (!bytes || *bytes != tensor.bytes.size)
    std::abort();
  // Touched, so that the sanitizer sees memory that is not there.
  unsigned sum = 0;
  for (size_t i = 0; i < tensor.bytes.size; ++i)
    sum += unsigned(tensor.bytes.data.get()[i]);
  static volatile unsigned sink;
  sink = sum;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto bytes = std::as_bytes(std::span(data, size));
  try {
    std::unique_ptr<Source> source = openMemory(bytes, "input");
#if defined(FORMAT_NPY)
    check(readNpy(*source));
#elif defined(FORMAT_NPZ)
    for (const RawTensor &tensor : readNpz(*source))
      check(tensor);
#else
    for (const RawTensor &tensor : readSafetensors(*source).tensors)
      check(tensor);
#endif
  } catch (const FileError &) {
  } catch (const std::bad_alloc &) {
    // A file may be truthful about a size that there is no memory for.
  }
  return 0;
}
