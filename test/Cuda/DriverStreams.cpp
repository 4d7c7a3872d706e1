// The test driver's streams, events and copies.
#include "test/Cuda/World.h"

#include <cstring>

using namespace tessera::test;

namespace {

// Checks one end of a copy.
bool checkEnd(Call &call, World &world, uintptr_t data, size_t bytes,
              bool isPinned, CUctx_st *context) {
  Block *block = world.find(data, bytes, "copy");
  if (!block)
    return false;
  if (block->isPinned != isPinned)
    call.misuse(isPinned ? "memory of the host that is not pinned"
                         : "pinned memory instead of the GPU's");
  else if (!isPinned && block->context != context)
    call.misuse("memory of another GPU");
  else
    return true;
  return false;
}

Result copy(Call &call, World &world, uintptr_t to, bool toHost, uintptr_t from,
            bool fromHost, size_t bytes, CUstream_st *stream) {
  if (!call.owns(world.streams, stream))
    return call.result();
  if (bytes == 0)
    return call.misuse("no bytes");
  if (!checkEnd(call, world, to, bytes, toHost, call.context()) ||
      !checkEnd(call, world, from, bytes, fromHost, call.context()))
    return Result::InvalidValue;
  if (toHost) // whoever reads before the copy has landed finds this
    std::memset(reinterpret_cast<void *>(to), 0xcd, bytes);
  world.enqueue(stream, copyOperation(world, "copy", to, from, bytes));
  return Result::Success;
}

bool isDone(const CUstream_st *stream, size_t position) {
  return stream->done >= position;
}

} // namespace

extern "C" {

Result cuMemcpyHtoDAsync_v2(DevicePointer to, const void *from, size_t bytes,
                            StreamHandle stream) {
  ENTER(cuMemcpyHtoDAsync_v2, true);
  return copy(call, world, to, false, reinterpret_cast<uintptr_t>(from), true,
              bytes, stream);
}

Result cuMemcpyDtoHAsync_v2(void *to, DevicePointer from, size_t bytes,
                            StreamHandle stream) {
  ENTER(cuMemcpyDtoHAsync_v2, true);
  return copy(call, world, reinterpret_cast<uintptr_t>(to), true, from, false,
              bytes, stream);
}

Result cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t bytes,
                            StreamHandle stream) {
  ENTER(cuMemcpyDtoDAsync_v2, true);
  return copy(call, world, to, false, from, false, bytes, stream);
}

Result cuMemcpyPeerAsync(DevicePointer to, Context toContext,
                         DevicePointer from, Context fromContext, size_t bytes,
                         StreamHandle stream) {
  ENTER(cuMemcpyPeerAsync, true);
  if (!call.owns(world.streams, stream) ||
      !checkEnd(call, world, to, bytes, false, toContext) ||
      !checkEnd(call, world, from, bytes, false, fromContext))
    return Result::InvalidValue;
  world.enqueue(stream, copyOperation(world, "peer copy", to, from, bytes));
  return Result::Success;
}

Result cuMemsetD8Async(DevicePointer data, unsigned char value, size_t bytes,
                       StreamHandle stream) {
  ENTER(cuMemsetD8Async, true);
  if (!call.owns(world.streams, stream) ||
      !checkEnd(call, world, data, bytes, false, call.context()))
    return Result::InvalidValue;
  world.enqueue(stream, fillOperation(world, data, value, bytes));
  return Result::Success;
}

Result cuStreamCreate(StreamHandle *stream, unsigned flags) {
  ENTER(cuStreamCreate, true);
  if (flags != kStreamNonBlocking)
    return call.misuse("a stream that waits for the default stream");
  *stream = new CUstream_st;
  (*stream)->context = call.context();
  world.streams.insert(*stream);
  return Result::Success;
}

Result cuStreamDestroy_v2(StreamHandle stream) {
  ENTER(cuStreamDestroy_v2, true);
  if (!call.owns(world.streams, stream))
    return call.result();
  world.runUntil(stream, stream->enqueued);
  world.hostKnows(stream, stream->enqueued, stream->clock);
  world.streams.erase(stream);
  world.endedStreams.push_back(stream);
  return Result::Success;
}

Result cuStreamSynchronize(StreamHandle stream) {
  ENTER(cuStreamSynchronize, true);
  if (!call.owns(world.streams, stream))
    return call.result();
  world.runUntil(stream, stream->enqueued);
  world.hostKnows(stream, stream->enqueued, stream->clock);
  return call.context()->sticky;
}

// Each question lets one operation happen, so that whoever asks again and again
// gets there.
Result cuStreamQuery(StreamHandle stream) {
  ENTER(cuStreamQuery, true);
  if (!call.owns(world.streams, stream))
    return call.result();
  if (!isDone(stream, stream->enqueued)) {
    world.runUntil(stream, stream->done + 1);
    return Result::NotReady;
  }
  world.hostKnows(stream, stream->enqueued, stream->clock);
  return call.context()->sticky;
}

Result cuStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  ENTER(cuStreamWaitEvent, true);
  if (!call.owns(world.streams, stream))
    return call.result();
  if (!world.events.count(event))
    return call.misuse("an event that is not alive");
  if (!event->stream)
    return Result::Success;
  for (auto [other, position] : event->clock)
    stream->clock[other] = std::max(stream->clock[other], position);
  Operation wait{"wait", {}, {}};
  wait.run = [&world, other = event->stream, position = event->position] {
    world.runUntil(other, position);
    return Result::Success;
  };
  world.enqueue(stream, std::move(wait));
  return Result::Success;
}

Result cuEventCreate(EventHandle *event, unsigned flags) {
  ENTER(cuEventCreate, true);
  if (flags & ~kEventDisableTiming)
    return call.misuse("flags");
  *event = new CUevent_st;
  (*event)->context = call.context();
  (*event)->timing = !(flags & kEventDisableTiming);
  world.events.insert(*event);
  return Result::Success;
}

Result cuEventDestroy_v2(EventHandle event) {
  ENTER(cuEventDestroy_v2, true);
  if (!call.owns(world.events, event))
    return call.result();
  world.events.erase(event);
  delete event;
  return Result::Success;
}

Result cuEventRecord(EventHandle event, StreamHandle stream) {
  ENTER(cuEventRecord, true);
  if (!call.owns(world.events, event) || !call.owns(world.streams, stream))
    return call.result();
  world.enqueue(stream, {"event", {}, [] { return Result::Success; }});
  event->stream = stream;
  event->position = stream->enqueued;
  event->clock = stream->clock;
  return Result::Success;
}

Result cuEventQuery(EventHandle event) {
  ENTER(cuEventQuery, true);
  if (!call.owns(world.events, event))
    return call.result();
  if (!event->stream)
    return Result::Success;
  if (!isDone(event->stream, event->position)) {
    world.runUntil(event->stream, event->stream->done + 1);
    return Result::NotReady;
  }
  world.hostKnows(event->stream, event->position, event->clock);
  return call.context()->sticky;
}

Result cuEventSynchronize(EventHandle event) {
  ENTER(cuEventSynchronize, true);
  if (!call.owns(world.events, event))
    return call.result();
  if (!event->stream)
    return Result::Success;
  world.runUntil(event->stream, event->position);
  world.hostKnows(event->stream, event->position, event->clock);
  return call.context()->sticky;
}

Result cuEventElapsedTime(float *milliseconds, EventHandle from,
                          EventHandle to) {
  ENTER(cuEventElapsedTime, true);
  if (!call.owns(world.events, from) || !call.owns(world.events, to))
    return call.result();
  if (!from->timing || !to->timing || !from->stream || !to->stream)
    return call.misuse("an event without a time");
  if (!isDone(from->stream, from->position) ||
      !isDone(to->stream, to->position))
    return Result::NotReady;
  *milliseconds = 1;
  return Result::Success;
}

} // extern "C"
