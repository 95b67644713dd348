// RecorderLock: the lock of a recorder. Free, it costs two atomic operations. A thread that finds it taken gives the
// language's lock back while it sleeps (ThreadHooks::block): the owner may be in a wait that ends by taking that lock.
// Not recursive. Fits std::lock_guard. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/park.h"
#include "core/runtime/thread_scopes.h"

namespace aee {

class RecorderLock {
 public:
  /// `hooks` must outlive it.
  explicit RecorderLock(const ThreadHooks& hooks) noexcept : hooks_(hooks) {}
  RecorderLock(const RecorderLock&) = delete;
  RecorderLock& operator=(const RecorderLock&) = delete;

  void lock() noexcept {
    std::uint32_t free = kFree;
    if (!state_.compare_exchange_strong(free, kTaken, std::memory_order_acquire)) [[unlikely]]
      lock_slowly();
  }
  void unlock() noexcept {
    if (state_.exchange(kFree, std::memory_order_release) == kWanted) [[unlikely]]
      unpark_all(state_);
  }

 private:
  enum State : std::uint32_t { kFree, kTaken, kWanted };

  [[gnu::noinline]] void lock_slowly() noexcept {
    const BlockScope blocked(hooks_);
    while (state_.exchange(kWanted, std::memory_order_acquire) != kFree) park(state_, kWanted);
  }

  const ThreadHooks& hooks_;
  std::atomic<std::uint32_t> state_{kFree};
};

}  // namespace aee
