// Files to tensors and back.
#include "tessera/Save.h"

#include "frontend/Recording.h"
#include "frontend/io/Npy.h"
#include "frontend/io/Npz.h"
#include "frontend/io/Safetensors.h"

namespace tessera::io {

static RawTensor rawOf(const std::string &name, const Tensor &tensor,
                       std::source_location place) {
  RawTensor raw;
  raw.name = name;
  raw.dtype = tensor.dtype();
  raw.shape.assign(tensor.shape().begin(), tensor.shape().end());
  std::span<const std::byte> bytes = tensor.bytes(place);
  raw.bytes = Bytes::allocate(bytes.size());
  std::copy(bytes.begin(), bytes.end(), raw.bytes.data.get());
  return raw;
}

static Tensor tensorOf(const RawTensor &raw) {
  auto storage = runtime::Storage::allocate(raw.bytes.size);
  const std::byte *data = raw.bytes.data.get();
  std::copy(data, data + raw.bytes.size,
            static_cast<std::byte *>(storage.data()));
  return detail::makeTensor(std::move(storage),
                            Shape(raw.shape.begin(), raw.shape.end()),
                            raw.dtype, Device());
}

/// Runs `work`; what is wrong with a file becomes an IoError at the place.
template <typename Work>
static auto guarded(const char *name, std::source_location place, Work work) {
  try {
    return work();
  } catch (const FileError &error) {
    throw IoError(detail::errorPlace(place), name, error.what());
  } catch (const std::bad_alloc &) {
    throw OutOfMemory(detail::errorPlace(place), name,
                      "the file's tensors do not fit in memory");
  }
}

void save(const std::string &path, const nn::TensorMap &tensors,
          std::source_location place) {
  guarded("save", place, [&] {
    std::vector<RawTensor> list;
    for (auto &[name, tensor] : tensors)
      list.push_back(rawOf(name, tensor, place));
    writeSafetensors(path, list);
  });
}

void save(const std::string &path, nn::Module &module,
          std::source_location place) {
  save(path, module.state_dict(), place);
}

static nn::TensorMap mapOf(const std::vector<RawTensor> &list) {
  nn::TensorMap map;
  for (const RawTensor &raw : list)
    map[raw.name] = tensorOf(raw);
  return map;
}

nn::TensorMap load(const std::string &path, std::source_location place) {
  return guarded("load", place,
                 [&] { return mapOf(readSafetensors(path).tensors); });
}

nn::TensorMap load_npz(const std::string &path, std::source_location place) {
  return guarded("load_npz", place, [&] { return mapOf(readNpz(path)); });
}

void save_npy(const std::string &path, const Tensor &tensor,
              std::source_location place) {
  guarded("save_npy", place, [&] { writeNpy(path, rawOf("", tensor, place)); });
}

Tensor load_npy(const std::string &path, std::source_location place) {
  return guarded("load_npy", place, [&] { return tensorOf(readNpy(path)); });
}

} // namespace tessera::io
