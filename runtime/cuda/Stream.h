// Queues of work on a GPU, and marks in them.
#pragma once

#include "runtime/cuda/Device.h"

#include <deque>

namespace tessera::runtime::cuda {

// A mark in a stream. Not thread-safe by itself.
class Event {
public:
  // `timing` marks can tell the time between two of them.
  explicit Event(Gpu &gpu, bool timing = false);
  ~Event();
  Event(Event &&other) noexcept;
  Event &operator=(Event &&other) noexcept;

  // Marks what was given to the stream so far.
  void record(Stream &stream);
  // Whether that is done; true for an event that was never recorded.
  bool isDone();
  // Returns when that is done.
  void synchronize();
  EventHandle get() const { return handle; }

private:
  Gpu *gpu;
  EventHandle handle = nullptr;
};

// Milliseconds between two timing events that are done.
float elapsedMilliseconds(Gpu &gpu, const Event &from, const Event &to);

// Work is done in the order it was given. Errors of a kernel surface at a later
// call, as DeviceError with the names of those that ran. Thread-safe.
class Stream {
public:
  explicit Stream(Gpu &gpu);
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  Gpu &gpu() const { return theGpu; }
  StreamHandle get() const { return handle; }

  // Returns when all work is done.
  void synchronize();
  // Whether it is done.
  bool isIdle();
  // What is given from now on starts after the event.
  void wait(const Event &event);

  // Copies within the GPU, and to another one, whose stream waits for it.
  void copy(DevicePointer to, DevicePointer from, size_t bytes);
  void copyTo(Stream &other, DevicePointer to, DevicePointer from,
              size_t bytes);
  void fill(DevicePointer data, unsigned char value, size_t bytes);

  // Throws unless `result` is success, with the kernels that are still running
  // as those that may be the cause.
  void check(Result result, const std::string &what);
  // Remembers a kernel until the next synchronisation: "softmax (a.cpp:12)".
  void noteLaunch(const std::string &kernel);

private:
  std::string culprits();

  Gpu &theGpu;
  StreamHandle handle = nullptr;
  std::mutex mutex;
  std::deque<std::string> recent; // the last few launches
  size_t launches = 0;            // all of them since the synchronisation
};

} // namespace tessera::runtime::cuda
