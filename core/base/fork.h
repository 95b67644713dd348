// Fork: how a child process learns that the threads of its parent are gone.
//
// A forked child has a copy of the memory but none of the device threads, and any lock may have been held by one of
// them. There our destructors neither join threads nor take locks: they leak, and the process is expected to leave
// the device alone. watch_forks() is called by everything that owns threads or locks which outlive a call.
#pragma once

#include <atomic>

namespace aee {

namespace detail {
inline constinit std::atomic<bool> is_forked_child{false};
}

/// Makes forked_child() work from now on; repeated calls are free.
void watch_forks();
/// Whether this process was forked from one that had called watch_forks().
[[nodiscard]] inline bool forked_child() noexcept { return detail::is_forked_child.load(std::memory_order_relaxed); }

}  // namespace aee
