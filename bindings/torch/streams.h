// Current device and current streams of the calling thread, and waiting for them. Used by the guard, the hooks and the
// surface; any thread, each with its own current device and streams.
#pragma once

#include <c10/core/Stream.h>

#include "core/runtime/timepoint.h"

namespace aee {

/// Number of devices; 0 if there is none. Makes no engine, never throws.
[[nodiscard]] c10::DeviceIndex device_count() noexcept;
/// Throws for an index without a device.
void set_current_device(c10::DeviceIndex device);
[[nodiscard]] c10::Stream stream_of(int device, c10::StreamId id);
[[nodiscard]] c10::Stream current_stream(int device);
void set_current_stream(const c10::Stream& stream);
/// Later work of the stream comes after the timepoint of a device. Waits on the host if the devices differ.
void wait_on_stream(int device, Timepoint point, const c10::Stream& stream);
/// A sync point for one device: raises what failed, emits warnings.
void synchronize_device(c10::DeviceIndex device);

}  // namespace aee
