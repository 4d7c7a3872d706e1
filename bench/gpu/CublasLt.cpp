// The few functions of cuBLASLt that a product takes, declared here.
#include "bench/gpu/CublasLt.h"

#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>
#include <vector>

namespace tessera::bench {

struct CublasLt::Functions {
  int (*create)(void **);
  int (*destroy)(void *);
  int (*descCreate)(void **, int computeType, int scaleType);
  int (*descDestroy)(void *);
  int (*layoutCreate)(void **, int type, uint64_t rows, uint64_t columns,
                      int64_t leading);
  int (*layoutDestroy)(void *);
  int (*matmul)(void *handle, void *desc, const void *alpha, const void *a,
                void *aLayout, const void *b, void *bLayout, const void *beta,
                const void *c, void *cLayout, void *d, void *dLayout,
                const void *algorithm, void *workspace, size_t workspaceBytes,
                void *stream);
};

namespace {

// CUBLAS_COMPUTE_32F; CUDA_R_32F, CUDA_R_16F and CUDA_R_16BF.
constexpr int kCompute32F = 68, kR32F = 0, kR16F = 2, kR16BF = 14;

void check(int status, const char *what) {
  if (status != 0)
    throw std::runtime_error(std::string("cuBLASLt: ") + what + ": status " +
                             std::to_string(status));
}

template <typename Function>
bool find(void *library, const char *name, Function *&function) {
  function = reinterpret_cast<Function *>(dlsym(library, name));
  return function;
}

void *open() {
  std::vector<std::string> folders = {""};
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *root = std::getenv(variable); root && *root)
      for (const char *part : {"/lib64/", "/lib/"})
        folders.push_back(std::string(root) + part);
  folders.push_back("/usr/local/cuda/lib64/");
  for (const std::string &folder : folders)
    for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12"})
      if (void *library = dlopen((folder + name).c_str(), RTLD_NOW))
        return library;
  return nullptr;
}

} // namespace

CublasLt::CublasLt() : f(std::make_unique<Functions>()) {}

CublasLt::~CublasLt() {
  if (handle)
    f->destroy(handle);
}

std::unique_ptr<CublasLt> CublasLt::load(std::string &why) {
  void *library = open();
  if (!library) {
    why = "libcublasLt.so.13 or .12 is not here; CUDA_HOME says where it is";
    return nullptr;
  }
  std::unique_ptr<CublasLt> lt(new CublasLt);
  Functions &f = *lt->f;
  if (!find(library, "cublasLtCreate", f.create) ||
      !find(library, "cublasLtDestroy", f.destroy) ||
      !find(library, "cublasLtMatmulDescCreate", f.descCreate) ||
      !find(library, "cublasLtMatmulDescDestroy", f.descDestroy) ||
      !find(library, "cublasLtMatrixLayoutCreate", f.layoutCreate) ||
      !find(library, "cublasLtMatrixLayoutDestroy", f.layoutDestroy) ||
      !find(library, "cublasLtMatmul", f.matmul)) {
    why = "the cuBLASLt that is here lacks functions";
    return nullptr;
  }
  if (int status = f.create(&lt->handle)) {
    lt->handle = nullptr;
    why = "cuBLASLt does not start: status " + std::to_string(status);
    return nullptr;
  }
  return lt;
}

void CublasLt::multiply(Type type, int64_t m, int64_t n, int64_t k, uint64_t a,
                        uint64_t b, uint64_t d, uint64_t workspace,
                        size_t workspaceBytes, void *stream) {
  auto pointer = [](uint64_t address) {
    return reinterpret_cast<void *>(address);
  };
  const int element = type == Type::F32   ? kR32F
                      : type == Type::F16 ? kR16F
                                          : kR16BF;
  void *desc = nullptr, *left = nullptr, *right = nullptr, *result = nullptr;
  check(f->descCreate(&desc, kCompute32F, kR32F), "a description");
  // Its matrices are column-major: the transposes of ours, in turn.
  check(f->layoutCreate(&left, element, uint64_t(n), uint64_t(k), n),
        "a layout");
  check(f->layoutCreate(&right, element, uint64_t(k), uint64_t(m), k),
        "a layout");
  check(f->layoutCreate(&result, element, uint64_t(n), uint64_t(m), n),
        "a layout");
  const float one = 1, zero = 0;
  int status = f->matmul(handle, desc, &one, pointer(b), left, pointer(a),
                         right, &zero, pointer(d), result, pointer(d), result,
                         nullptr, pointer(workspace), workspaceBytes, stream);
  for (void *layout : {left, right, result})
    f->layoutDestroy(layout);
  f->descDestroy(desc);
  check(status, "a product");
}

} // namespace tessera::bench
