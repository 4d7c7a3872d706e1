// How buffers are made and end.
#include "runtime/Storage.h"

#include "runtime/Allocator.h"
#include "runtime/cuda/Allocator.h"
#include "runtime/cuda/Staging.h"

#include <memory>
#include <stdexcept>
#include <string>

namespace tessera::runtime {

namespace {
// Up to here the bytes follow their record in one block of the allocator, which
// halves the cost of the small results that calls make most often. Above, the
// record would push powers of two into the next size class.
constexpr size_t kMaxTogether = 1024;
} // namespace

Storage Storage::allocate(size_t bytes, Device device) {
  static_assert(sizeof(Buffer) == Allocator::kAlignment);
  if (!device.isHostMemory()) {
    cuda::Gpu &gpu = cuda::Gpu::at(device.ordinal());
    std::unique_ptr<Buffer> buffer(
        new Buffer{nullptr, bytes, device, Origin::Owned});
    buffer->data =
        reinterpret_cast<void *>(gpu.allocator().allocate(bytes, gpu.stream()));
    return Storage(buffer.release());
  }
  Allocator &host = Allocator::host();
  if (bytes <= kMaxTogether) {
    void *block = host.allocate(sizeof(Buffer) + bytes);
    return Storage(new (block) Buffer{static_cast<Buffer *>(block) + 1, bytes,
                                      device, Origin::Owned});
  }
  std::unique_ptr<Buffer> buffer(
      new Buffer{nullptr, bytes, device, Origin::Owned});
  buffer->data = host.allocate(bytes);
  return Storage(buffer.release());
}

Storage Storage::borrow(void *data, size_t bytes, std::function<void()> release,
                        Device device) {
  // Whatever happens, `release` is called once.
  try {
    std::unique_ptr<Buffer> buffer(
        new Buffer{data, bytes, device, Origin::Borrowed});
    if (release)
      buffer->release = std::make_unique<std::function<void()>>(release);
    return Storage(buffer.release());
  } catch (...) {
    if (release)
      release();
    throw;
  }
}

Storage Storage::view(const Storage &parent, size_t offset, size_t bytes) {
  if (!parent || offset > parent.bytes() || bytes > parent.bytes() - offset)
    throw std::out_of_range("a view of " + std::to_string(bytes) +
                            " bytes at " + std::to_string(offset) +
                            " does not lie in a storage of " +
                            std::to_string(parent.bytes()));
  Buffer *whole = parent.buffer->parent ? parent.buffer->parent : parent.buffer;
  auto *buffer = new Buffer{static_cast<char *>(parent.data()) + offset, bytes,
                            parent.device(), Origin::View};
  retain(whole);
  buffer->parent = whole;
  return Storage(buffer);
}

Storage Storage::on(Device device) const {
  Device here = this->device();
  bool isHere =
      here == device || (here.isHostMemory() && device.isHostMemory());
  if (!buffer || isHere)
    return *this;
  Storage copy = allocate(bytes(), device);
  if (bytes() == 0)
    return copy;
  auto onGpu = [](const Storage &storage) {
    return reinterpret_cast<cuda::DevicePointer>(storage.data());
  };
  if (here.isHostMemory()) {
    cuda::Gpu &gpu = cuda::Gpu::at(device.ordinal());
    gpu.staging().upload(onGpu(copy), data(), bytes(), gpu.stream());
    return copy;
  }
  cuda::Gpu &gpu = cuda::Gpu::at(here.ordinal());
  if (device.isHostMemory())
    gpu.staging().download(copy.data(), onGpu(*this), bytes(), gpu.stream());
  else
    gpu.stream().copyTo(cuda::Gpu::at(device.ordinal()).stream(), onGpu(copy),
                        onGpu(*this), bytes());
  return copy;
}

bool Storage::isUnique() const {
  // Acquire: what other handles did with the bytes has happened before they
  // went, so the bytes may be overwritten now.
  for (Buffer *b = buffer; b; b = b->parent)
    if (b->references.load(std::memory_order_acquire) != 1)
      return false;
  return buffer != nullptr;
}

bool Storage::canDonate() const {
  if (!isUnique())
    return false;
  Buffer *whole = buffer->parent ? buffer->parent : buffer;
  return whole->origin == Origin::Owned;
}

void Storage::destroy(Buffer *b) {
  if (b->origin == Origin::Owned && !b->device.isHostMemory()) {
    cuda::Gpu::at(b->device.ordinal())
        .allocator()
        .deallocate(reinterpret_cast<cuda::DevicePointer>(b->data));
    delete b;
    return;
  }
  if (b->origin == Origin::Owned && b->bytes <= kMaxTogether) {
    Allocator::host().deallocate(b, sizeof(Buffer) + b->bytes);
    return; // the record has no parent and nothing to release
  }
  if (b->origin == Origin::Owned)
    Allocator::host().deallocate(b->data, b->bytes);
  if (b->release)
    (*b->release)();
  release(b->parent);
  delete b;
}

} // namespace tessera::runtime
