// SegmentRecorder: the steps that one thread has recorded for one queue and not launched yet.
//
// Steps gather as launches, one after the other, in one block; a cut submits the first of them as one unit. What is
// pending is told by tags on its buffers: whoever else touches such a buffer cuts the recorder first. So a recorder is
// used by its own thread and, for cuts, by any other: a lock guards it, held while a step is added or a cut submitted.
// Lock order: a recorder, then a queue; never two recorders.
// Owned by a DeviceContext, which hands them out again when their thread has ended.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "cache/layout_memo.h"
#include "core/base/cut_reason.h"
#include "core/engine/recorder_lock.h"
#include "core/engine/segment_tracer.h"
#include "core/engine/site_table.h"
#include "core/engine/step_launch.h"

namespace aee {

class SegmentRecorder {
 public:
  SegmentRecorder(DeviceContext& context, QueueId queue, const TracerLimits& limits);
  SegmentRecorder(const SegmentRecorder&) = delete;
  SegmentRecorder& operator=(const SegmentRecorder&) = delete;

  [[nodiscard]] QueueId queue() const noexcept { return queue_; }

  /// Adds a step; may launch segments that are due. Owning thread only. `layouts`: the memo's entry with the step's
  /// key. `library`: a cut is better after this step.
  void record(const StepWriter& step, const LayoutEntry& layouts, std::span<Buffer* const> fresh, const StepCode& code,
              bool library);
  /// Launches everything pending. `waiting`: the host is about to wait for it. Any thread.
  void cut(CutReason reason, bool waiting);
  /// Whether nothing is pending. Any thread; exact on the own one.
  [[nodiscard]] bool empty() const noexcept { return pending_.load(std::memory_order_acquire) == 0; }
  /// An op that was recorded just now took the host so long, from call to return. Owning thread only.
  void add_recording(std::uint64_t ns);
  /// Adds a report for each place where segments of this recorder ended. Any thread.
  void explain(std::vector<SiteReport>& reports);
  /// The recorder behind a tag.
  [[nodiscard]] static SegmentRecorder* from_tag(PendingTag tag) noexcept {
    return reinterpret_cast<SegmentRecorder*>(tag & ~PendingTag{1});
  }

 private:
  struct InFlight {
    Timepoint point;
    std::uint32_t ops;
  };
  void settle_operands(const StepWriter& step);
  void tag(const Launch& launch) noexcept;
  void end_segments(CutReason reason, bool waiting);
  void submit(const SegmentCut& due, int flags);
  void retag_rest(std::size_t from);
  void bound_in_flight();
  [[nodiscard]] Launch& pending(std::size_t index) noexcept;
  [[nodiscard]] Launch& make_unit(std::uint32_t ops, int flags);
  [[nodiscard]] bool own(PendingTag tag) const noexcept { return from_tag(tag) == this; }
  [[nodiscard]] PendingTag tag_value() const noexcept { return reinterpret_cast<PendingTag>(this) | parity_; }

  DeviceContext& context_;
  const QueueId queue_;
  const TracerLimits limits_;
  const double heavy_us_;  // a step that takes the device so long ends its segment
  RecorderLock lock_;      // guards the rest
  std::atomic<std::uint32_t> pending_{0};
  PendingTag parity_ = 0;            // flips at a cut that leaves steps behind: their tags must outlive it
  WordArray block_;                  // room for the segment's head, then the pending launches
  std::vector<std::uint32_t> ends_;  // words: where each pending launch ends in block_
  WaitList waits_;
  SiteTable sites_;
  SegmentTracer tracer_;                 // after sites_: it tells of the nodes that it forgets to its end
  std::vector<std::uint64_t> operands_;  // scratch
  std::deque<InFlight> in_flight_;
  std::uint64_t ops_in_flight_ = 0;
};

}  // namespace aee
