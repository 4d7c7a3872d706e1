// NVIDIA's matrix products, to compare with: libcublasLt by dlopen.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tessera::bench {

/// Products of row-major matrices on the GPU whose context is current.
class CublasLt {
public:
  enum class Type { F32, F16, BF16 };

  /// Null, with the reason in `why`, if the library is not here.
  static std::unique_ptr<CublasLt> load(std::string &why);
  ~CublasLt();

  /// d[m,n] = a[m,k] b[k,n], accumulated in f32, given to the stream. Throws
  /// std::runtime_error.
  void multiply(Type type, int64_t m, int64_t n, int64_t k, uint64_t a,
                uint64_t b, uint64_t d, uint64_t workspace,
                size_t workspaceBytes, void *stream);

private:
  struct Functions;
  CublasLt();
  std::unique_ptr<Functions> f;
  void *handle = nullptr;
};

} // namespace tessera::bench
