// Devices: how many there are, which one is current, waiting for one, its memory. An index counts from 0; a function
// that takes kCurrentDevice means the calling thread's current device. Any thread; nothing is owned.
#pragma once

#include <cstdint>

#include <adaptive_eager/export.h>
#include <c10/core/Device.h>

namespace aee {

/// Stands for the calling thread's current device.
inline constexpr int kCurrentDevice = -1;

/// Number of devices; 0 if the environment is wrong. Starts nothing, never throws.
[[nodiscard]] AEE_API int device_count() noexcept;
/// The device neuron:index, for tensors and modules. Starts nothing. Throws c10::Error for an index without a device.
[[nodiscard]] AEE_API c10::Device device(int index = kCurrentDevice);
/// Makes a device the calling thread's current one; c10::DeviceGuard does so for a scope. Throws c10::Error for an
/// index without a device.
AEE_API void set_current_device(int index);

/// Waits until all work of one device that was recorded so far has run, on every stream. Throws the first failure that
/// nobody was told of, with its op; gives warnings of kernels to the calling thread's c10::WarningHandler. Throws
/// c10::Error for an index without a device. Does nothing for a device that was never used.
AEE_API void synchronize(int index = kCurrentDevice);

/// Limits the memory that tensors of one device may occupy, in bytes; above it calls throw c10::OutOfMemoryError. What
/// is allocated stays. Starts the device. Throws c10::Error for an index without a device.
AEE_API void set_memory_limit(std::uint64_t bytes, int index = kCurrentDevice);

}  // namespace aee
