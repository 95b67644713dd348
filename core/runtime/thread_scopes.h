// The two scopes in which a thread calls the ThreadHooks: RunScope around running launches, BlockScope around a wait.
// Both are for one thread and one scope of a function.
#pragma once

#include "core/runtime/device.h"

namespace aee {

/// Calls enter() before the first launch that a thread runs, and leave() at the end if it ran any.
class RunScope {
 public:
  explicit RunScope(const ThreadHooks& hooks) noexcept : hooks_(hooks) {}
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;
  ~RunScope() {
    if (entered_ && hooks_.leave != nullptr) hooks_.leave(token_);
  }
  void enter() noexcept {
    if (entered_) return;
    entered_ = true;
    if (hooks_.enter != nullptr) token_ = hooks_.enter();
  }

 private:
  const ThreadHooks& hooks_;
  void* token_ = nullptr;
  bool entered_ = false;
};

/// Calls block() now and unblock() at the end. Made only when a wait is not over at once.
class BlockScope {
 public:
  explicit BlockScope(const ThreadHooks& hooks) noexcept : hooks_(hooks) {
    if (hooks_.block != nullptr) token_ = hooks_.block();
  }
  BlockScope(const BlockScope&) = delete;
  BlockScope& operator=(const BlockScope&) = delete;
  ~BlockScope() {
    if (hooks_.unblock != nullptr) hooks_.unblock(token_);
  }

 private:
  const ThreadHooks& hooks_;
  void* token_ = nullptr;
};

}  // namespace aee
