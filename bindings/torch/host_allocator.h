// Pinned host memory: ordinary host memory that is known to be pinned. On the emulator every host page is reachable,
// so pinning costs nothing and only has to be told apart. Any thread.
#pragma once

#include <ATen/core/CachingHostAllocator.h>

namespace aee {

[[nodiscard]] at::HostAllocator& host_allocator();
/// Whether an address lies in memory of that allocator.
[[nodiscard]] bool is_pinned(const void* address);

}  // namespace aee
