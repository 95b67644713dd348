// Adaptive mode: whether ops gather in segments, which are launched as one unit, or are launched one by one. Values,
// errors and order are the same in both modes. The switch belongs to a thread; a thread begins as the option
// TORCH_NEURON_ADAPTIVE_EAGER says. Errors: every function starts the device and throws c10::Error if it cannot.
#pragma once

#include <adaptive_eager/export.h>

namespace aee {

/// Whether ops of the calling thread gather in segments.
[[nodiscard]] AEE_API bool is_adaptive();
/// Turns adaptive mode on or off for the calling thread and returns what it was. Turning it off launches what the
/// thread holds back.
AEE_API bool set_adaptive(bool enabled);
/// Ends the calling thread's segments on all streams: their work is launched. Does not wait. A natural place is the end
/// of a training step; it is never needed for right results.
AEE_API void mark_step();

/// Adaptive mode on or off for a scope of one thread, then as before. Guards nest; each must end on the thread that
/// made it, the last one first.
class AEE_API AdaptiveEagerGuard {
 public:
  explicit AdaptiveEagerGuard(bool enabled = true) : before_(set_adaptive(enabled)) {}
  /// Never throws: work that cannot be launched here is launched by the next call that waits, which tells the reason.
  ~AdaptiveEagerGuard();
  AdaptiveEagerGuard(const AdaptiveEagerGuard&) = delete;
  AdaptiveEagerGuard& operator=(const AdaptiveEagerGuard&) = delete;

 private:
  bool before_;
};

}  // namespace aee
