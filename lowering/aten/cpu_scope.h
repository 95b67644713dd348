// CpuScope: what surrounds ATen's CPU kernels while they run for the device, on a device thread or a helping host
// thread: an explicit dispatch state (no autograd, no autocast, no functorch, no dispatch modes of the user), no
// profiler records, memory from the device's arena, and warnings collected for the next sync point.
// Thread-local; scopes nest.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <c10/core/StorageImpl.h>
#include <c10/util/Exception.h>

namespace aee {

class Device;  // core/runtime/device.h

/// Whether warnings raised in a scope go to the list of pending warnings or straight to the caller's handler.
enum class Warnings : unsigned char { kCollect, kPass };

class CpuScope {
 public:
  explicit CpuScope(Warnings warnings) noexcept;
  ~CpuScope();
  CpuScope(const CpuScope&) = delete;
  CpuScope& operator=(const CpuScope&) = delete;

 private:
  struct Saved;
  alignas(16) std::byte saved_[192];
};

/// Takes the warnings that scopes have collected, oldest first. Any thread.
[[nodiscard]] std::vector<c10::Warning> take_warnings();
/// Whether there are any; cheap.
[[nodiscard]] bool has_warnings() noexcept;

/// Whether the memory of a CPU storage is a block of the device that the storage owns.
[[nodiscard]] bool is_scope_memory(const c10::StorageImpl& storage) noexcept;

/// Makes CPU allocations inside scopes come from the memory of `device`, which must live as long as the process. Once.
void install_scope_allocator(Device& device);

}  // namespace aee
