// Streams and events of the driver.
#include "runtime/cuda/Stream.h"

#include "runtime/cuda/Allocator.h"

#include <utility>

namespace tessera::runtime::cuda {

namespace {
// So many launches are named when one of them has failed.
constexpr size_t kNamed = 4;
} // namespace

Event::Event(Gpu &gpu, bool timing) : gpu(&gpu) {
  gpu.checkAlive();
  ContextScope current(gpu);
  gpu.check(gpu.driver().eventCreate(&handle, timing ? 0 : kEventDisableTiming),
            "making an event");
}

Event::~Event() {
  if (!handle)
    return;
  if (QuietContextScope current(*gpu); current)
    gpu->driver().eventDestroy(handle);
}

Event::Event(Event &&other) noexcept
    : gpu(other.gpu), handle(std::exchange(other.handle, nullptr)) {}

Event &Event::operator=(Event &&other) noexcept {
  std::swap(gpu, other.gpu);
  std::swap(handle, other.handle);
  return *this;
}

void Event::record(Stream &stream) {
  ContextScope current(*gpu);
  stream.check(gpu->driver().eventRecord(handle, stream.get()),
               "recording an event");
}

bool Event::isDone() {
  ContextScope current(*gpu);
  Result result = gpu->driver().eventQuery(handle);
  if (result != Result::NotReady)
    gpu->check(result, "asking for an event");
  return result == Result::Success;
}

void Event::synchronize() {
  ContextScope current(*gpu);
  gpu->check(gpu->driver().eventSynchronize(handle), "waiting for an event");
}

float elapsedMilliseconds(Gpu &gpu, const Event &from, const Event &to) {
  ContextScope current(gpu);
  float milliseconds = 0;
  gpu.check(gpu.driver().eventElapsed(&milliseconds, from.get(), to.get()),
            "measuring time");
  return milliseconds;
}

Stream::Stream(Gpu &gpu) : theGpu(gpu) {
  gpu.checkAlive();
  ContextScope current(gpu);
  gpu.check(gpu.driver().streamCreate(&handle, kStreamNonBlocking),
            "making a stream");
}

Stream::~Stream() {
  QuietContextScope current(theGpu);
  if (current)
    theGpu.driver().streamSynchronize(handle);
  theGpu.streamEnds(*this);
  if (current)
    theGpu.driver().streamDestroy(handle);
}

void Stream::synchronize() {
  theGpu.checkAlive();
  ContextScope current(theGpu);
  check(theGpu.driver().streamSynchronize(handle), "waiting for the GPU");
  std::lock_guard guard(mutex);
  recent.clear();
  launches = 0;
}

bool Stream::isIdle() {
  theGpu.checkAlive();
  ContextScope current(theGpu);
  Result result = theGpu.driver().streamQuery(handle);
  if (result != Result::NotReady)
    check(result, "asking whether the GPU is done");
  return result == Result::Success;
}

void Stream::wait(const Event &event) {
  ContextScope current(theGpu);
  check(theGpu.driver().streamWaitEvent(handle, event.get(), 0),
        "waiting for another stream");
}

void Stream::copy(DevicePointer to, DevicePointer from, size_t bytes) {
  if (bytes == 0)
    return;
  theGpu.checkAlive();
  ContextScope current(theGpu);
  check(theGpu.driver().copyOnDevice(to, from, bytes, handle),
        "copying " + std::to_string(bytes) + " bytes on the GPU");
}

void Stream::copyTo(Stream &other, DevicePointer to, DevicePointer from,
                    size_t bytes) {
  if (bytes == 0)
    return;
  theGpu.checkAlive();
  other.gpu().checkAlive();
  // The other stream may still be using the memory that is written.
  Event ready(other.gpu()), done(theGpu);
  ready.record(other);
  wait(ready);
  {
    ContextScope current(theGpu);
    check(theGpu.driver().copyPeer(to, other.gpu().context(), from,
                                   theGpu.context(), bytes, handle),
          "copying " + std::to_string(bytes) + " bytes to " +
              other.gpu().str());
  }
  done.record(*this);
  other.wait(done);
}

void Stream::fill(DevicePointer data, unsigned char value, size_t bytes) {
  if (bytes == 0)
    return;
  theGpu.checkAlive();
  ContextScope current(theGpu);
  check(theGpu.driver().fill(data, value, bytes, handle),
        "filling " + std::to_string(bytes) + " bytes");
}

void Stream::check(Result result, const std::string &what) {
  if (result != Result::Success)
    theGpu.check(result, what, isFatal(result) ? culprits() : "");
}

void Stream::noteLaunch(const std::string &kernel) {
  std::lock_guard guard(mutex);
  ++launches;
  recent.push_back(kernel);
  if (recent.size() > kNamed)
    recent.pop_front();
}

std::string Stream::culprits() {
  std::lock_guard guard(mutex);
  if (launches == 0)
    return "";
  std::string text = launches == 1 ? "the kernel " : "one of the kernels ";
  for (size_t i = 0; i < recent.size(); ++i)
    text += (i == 0 ? "" : i + 1 < recent.size() ? ", " : " or ") + recent[i];
  if (launches > recent.size())
    text += ", or one of the " + std::to_string(launches - recent.size()) +
            " before them";
  return text;
}

} // namespace tessera::runtime::cuda
