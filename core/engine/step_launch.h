// From a recorded step to a launch: which buffers it names, what it waits for, and the block that the queue copies.
//
//   payload:  | header (opaque) | Buffer* slots[] | the step's params |
//
// A StepLauncher belongs to one recorder thread and reuses its memory.
#pragma once

#include <array>
#include <span>

#include "core/engine/device_context.h"
#include "ir/step.h"

namespace aee {

/// How a step runs, for the layer that knows.
struct StepCode {
  Launch::Run run;
  Launch::Describe describe;
  std::uint32_t flags;       ///< LaunchFlags
  const void* header;        ///< copied in front of the slots
  std::size_t header_bytes;  ///< a multiple of 8
};

/// Appends the launch of a step to `block` and takes the references of its buffers. `fresh`: the buffers of its new
/// results, in order; they come first among the launch's buffers. `waits` are copied into it.
Launch& append_step(WordArray& block, const StepWriter& step, std::span<Buffer* const> fresh, const StepCode& code,
                    std::span<const Timepoint> waits);

/// Timepoints that a launch must wait for: at most one a queue.
class WaitList {
 public:
  void clear() noexcept { count_ = 0; }
  void add(Timepoint point) noexcept;
  [[nodiscard]] std::span<const Timepoint> view() const noexcept { return {points_.data(), count_}; }

 private:
  std::array<Timepoint, kMaxQueues> points_;
  std::size_t count_ = 0;
};

/// Launches steps one by one.
class StepLauncher {
 public:
  /// Launches a step at once. Waits for launches on other queues that use the same buffers are added. On an exception
  /// nothing was launched.
  Timepoint launch(DeviceContext& context, QueueId queue, const StepWriter& step, std::span<Buffer* const> fresh,
                   const StepCode& code);

 private:
  WordArray block_;
  WaitList waits_;
};

}  // namespace aee
