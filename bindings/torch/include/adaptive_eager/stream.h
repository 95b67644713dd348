// Streams and events of the device: PyTorch's own classes, which do the work (Stream::synchronize, Stream::query,
// Event::record, Event::block, Event::elapsedTime), and how to get them.
//
// Work of one stream runs in order; work of two streams has no order but that of events. Each thread has a current
// stream on each device, at first the default one, which all threads share. Streams are numbers: copy them freely; they
// are never destroyed. Any thread. All functions but the event ones start the device; for an index without a device
// they throw c10::Error.
#pragma once

#include <adaptive_eager/device.h>
#include <adaptive_eager/export.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>

namespace aee {

/// A stream that nobody else has.
[[nodiscard]] AEE_API c10::Stream new_stream(int device = kCurrentDevice);
/// The calling thread's current stream of a device.
[[nodiscard]] AEE_API c10::Stream current_stream(int device = kCurrentDevice);
/// The stream that work goes to unless another is chosen.
[[nodiscard]] AEE_API c10::Stream default_stream(int device = kCurrentDevice);
/// Makes a stream the calling thread's current one of its device; leaves the current device alone. Throws c10::Error
/// for a stream that does not exist or is of another kind of device.
AEE_API void set_current_stream(const c10::Stream& stream);

/// Makes a stream and its device current for a scope of one thread, then as before.
using StreamGuard = c10::StreamGuard;

/// An event without a clock. The caller owns it; one thread at a time.
[[nodiscard]] inline c10::Event new_event() { return c10::Event(c10::DeviceType::PrivateUse1); }
/// An event whose elapsedTime gives milliseconds, once it and the other one were reached.
[[nodiscard]] inline c10::Event new_timed_event() {
  return {c10::DeviceType::PrivateUse1, c10::EventFlag::BACKEND_DEFAULT};
}

}  // namespace aee
