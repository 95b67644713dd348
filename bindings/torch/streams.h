// Current device and current streams of the calling thread, and waiting for them: what the guard, the hooks and the
// public headers device.h and stream.h need. Any thread, each with its own current device and streams.
#pragma once

#include <adaptive_eager/device.h>
#include <adaptive_eager/stream.h>
#include <c10/core/Stream.h>

#include "core/runtime/timepoint.h"

namespace aee {

/// The index, or the current device's for kCurrentDevice. Throws c10::Error for an index without a device.
[[nodiscard]] int checked_device(int index);
[[nodiscard]] c10::Stream stream_of(int device, c10::StreamId id);
/// Later work of the stream comes after the timepoint of a device. Waits on the host if the devices differ.
void wait_on_stream(int device, Timepoint point, const c10::Stream& stream);

}  // namespace aee
