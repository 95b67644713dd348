#include "core/engine/segment_recorder.h"

#include <bit>
#include <cstring>
#include <mutex>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/engine/device_context.h"
#include "core/engine/trace_stream.h"
#include "ir/step_rules.h"

namespace aee {
namespace {

constexpr std::size_t kHeadWords = kMaxQueues + sizeof(Launch) / 8;
constexpr std::uint64_t kMostOpsInFlight = 2047;  // with a full segment pending: below 4096
constexpr std::size_t kMostSegmentsInFlight = 256;

// A step that keeps the device busy this many times as long as a launch is launched at once: company gains it nothing.
constexpr double kHeavyLaunches = 16;
constexpr double kLeastHeavyUs = 4;

/// What a step costs the device, roughly, in microseconds: so much for each buffer, and its bytes at 20 GB/s; calls of
/// the library pass over them several times.
double static_us(const StepWriter& step, std::span<Buffer* const> fresh, bool library) noexcept {
  std::size_t bytes = 0;
  for (const Slot& slot : step.slots()) bytes += slot.buffer->bytes();
  for (const Buffer* buffer : fresh) bytes += buffer->bytes();
  const double passes = static_cast<double>(bytes) / 20e3 * (library ? 8 : 1);
  return 0.3 * static_cast<double>(step.slots().size() + fresh.size()) + passes;
}

}  // namespace

SegmentRecorder::SegmentRecorder(DeviceContext& context, QueueId queue, const TracerLimits& limits)
    : context_(context),
      queue_(queue),
      limits_(limits),
      heavy_us_(std::max(kLeastHeavyUs, kHeavyLaunches * limits.costs.launch_us)),
      lock_(context.hooks()),
      tracer_(limits) {
  block_.extend(kHeadWords);
  tracer_.trie().on_forget(
      this, [](void* self, TraceNode& node) noexcept { static_cast<SegmentRecorder*>(self)->sites_.forget(node); });
}

// Before the own lock is taken: two recorders that cut each other must not hold theirs.
void SegmentRecorder::settle_operands(const StepWriter& step) {
  for (const Slot& slot : step.slots()) {
    Buffer& buffer = *slot.buffer;
    const PendingTag writer = buffer.pending_writer.load(std::memory_order_acquire);
    if (writer != 0 && !own(writer)) from_tag(writer)->cut(CutReason::kThread, /*waiting=*/false);
    if (!slot.written) continue;
    const PendingTag reader = buffer.pending_reader.load(std::memory_order_acquire);
    if (reader == kManyReaders) {
      context_.cut_all(CutReason::kThread, /*waiting=*/false);
      buffer.pending_reader.store(0, std::memory_order_release);
    } else if (reader != 0 && !own(reader)) {
      from_tag(reader)->cut(CutReason::kThread, /*waiting=*/false);
    }
  }
}

void SegmentRecorder::tag(const Launch& launch) noexcept {
  const PendingTag tag = tag_value();
  std::size_t index = 0;
  for (Buffer* buffer : launch.buffers()) {
    if (index++ < launch.written_count) {
      buffer->pending_writer.store(tag, std::memory_order_release);
      continue;
    }
    PendingTag reader = buffer->pending_reader.load(std::memory_order_relaxed);
    if (reader == tag) continue;
    if (reader == 0 || own(reader)) {
      if (buffer->pending_reader.compare_exchange_strong(reader, tag, std::memory_order_acq_rel)) continue;
    }
    buffer->pending_reader.store(kManyReaders, std::memory_order_release);
  }
}

void SegmentRecorder::record(const StepWriter& step, const LayoutEntry& layouts, std::span<Buffer* const> fresh,
                             const StepCode& code, bool library) {
  AEE_DCHECK(broken_rule({step.op(), layouts.key, step.params().size(), step.slots()}) == nullptr, step.op().name, ": ",
             broken_rule({step.op(), layouts.key, step.params().size(), step.slots()}));
  settle_operands(step);
  const std::lock_guard guard(lock_);
  for (const Slot& slot : step.slots()) {
    const Timepoint last = slot.buffer->last_use();
    if (last.queue != queue_ && !context_.reached(last)) [[unlikely]]
      waits_.add(last);
  }
  Launch& launch = append_step(block_, step, fresh, code, {});
  launch.tag = tag_value();
  ends_.push_back(static_cast<std::uint32_t>(block_.size()));
  tag(launch);
  pending_.store(static_cast<std::uint32_t>(ends_.size()), std::memory_order_release);

  operands_.clear();
  for (const Slot& slot : step.slots()) operands_.push_back(reinterpret_cast<std::uintptr_t>(slot.buffer));
  for (Buffer* buffer : fresh) operands_.push_back(reinterpret_cast<std::uintptr_t>(buffer));
  // The trace is followed by structure: sizes do not matter to it.
  const Structure& structure = *layouts.structure;
  const TracedStep traced{structure.key, structure.hash, operands_, static_cast<std::uint8_t>(library ? 1 : 0),
                          structure.id};
  if (TraceWriter* writer = context_.trace_writer()) [[unlikely]]
    writer->step(this, limits_, step.op(), traced);
  tracer_.add(traced, [this](const SegmentCut& due) { submit(due, 0); });
  if (!ends_.empty() && static_us(step, fresh, library) >= heavy_us_) end_segments(CutReason::kBudget, false);
}

void SegmentRecorder::cut(CutReason reason, bool waiting) {
  if (empty() && !waiting) return;
  // The policy counts the ops between waits, so it hears of a wait even if nothing is left to launch.
  const std::lock_guard guard(lock_);
  end_segments(reason, waiting);
}

void SegmentRecorder::end_segments(CutReason reason, bool waiting) {
  if (TraceWriter* writer = context_.trace_writer()) [[unlikely]]
    writer->cut(this, limits_, reason, waiting);
  tracer_.cut(reason, waiting, [&](const SegmentCut& due) { submit(due, waiting ? kLaunchAwaited : 0); });
}

// Note [Tags of what is left behind]
// The queue clears the tags of what it accepts. Buffers that later steps use too must not lose theirs, so these get the
// tag of the other parity first.
void SegmentRecorder::retag_rest(std::size_t from) {
  parity_ ^= 1;
  std::uint64_t* words = block_.data();
  for (std::size_t at = from; at < block_.size();) {
    auto& launch = *reinterpret_cast<Launch*>(words + at);
    launch.tag = tag_value();
    tag(launch);
    at += launch.size / 8;
  }
}

void SegmentRecorder::bound_in_flight() {
  // Asking the device costs a cache line, so only when it may matter.
  if (ops_in_flight_ <= kMostOpsInFlight / 2 && in_flight_.size() < kMostSegmentsInFlight) return;
  while (!in_flight_.empty() && context_.reached(in_flight_.front().point)) {
    ops_in_flight_ -= in_flight_.front().ops;
    in_flight_.pop_front();
  }
  while (ops_in_flight_ > kMostOpsInFlight) {
    context_.device().wait(in_flight_.front().point, WaitMode::kHelp);
    ops_in_flight_ -= in_flight_.front().ops;
    in_flight_.pop_front();
  }
}

void SegmentRecorder::add_recording(std::uint64_t ns) {
  const std::lock_guard guard(lock_);
  sites_.add_recording(ns);
}

void SegmentRecorder::explain(std::vector<SiteReport>& reports) {
  const std::lock_guard guard(lock_);
  sites_.report(reports);
}

Launch& SegmentRecorder::pending(std::size_t index) noexcept {
  return *reinterpret_cast<Launch*>(block_.data() + (index == 0 ? kHeadWords : ends_[index - 1]));
}

/// The oldest `ops` pending launches as one unit.
Launch& SegmentRecorder::make_unit(std::uint32_t ops, int flags) {
  const std::span<const Timepoint> waits = waits_.view();
  if (ops == 1 && waits.empty()) {
    Launch& launch = pending(0);
    launch.flags |= static_cast<std::uint16_t>(flags);
    return launch;
  }
  // The segment's head goes right in front of its launches.
  const std::size_t head = kHeadWords - sizeof(Launch) / 8 - waits.size();
  auto& segment = *::new (block_.data() + head) Launch{};
  segment.size = static_cast<std::uint32_t>(8 * (ends_[ops - 1] - head));
  segment.wait_count = static_cast<std::uint16_t>(waits.size());
  segment.op_count = 0;
  segment.flags = static_cast<std::uint16_t>(kLaunchSegment | flags);
  for_each_inner(segment, [&segment](Launch& inner) { segment.flags |= inner.flags & kLaunchParallel; });
  std::copy(waits.begin(), waits.end(), segment.waits().begin());
  return segment;
}

void SegmentRecorder::submit(const SegmentCut& due, int flags) {
  const std::size_t end = ends_[due.ops - 1];
  const bool rest = due.ops < ends_.size();
  if (rest) retag_rest(end);
  LaunchClock* const clock = sites_.note(due, pending(0), tracer_.trie());
  bound_in_flight();
  Launch& unit = make_unit(due.ops, flags);
  unit.clock = clock;
  const Timepoint point = context_.submit(queue_, unit);
  in_flight_.push_back({point, due.ops});
  ops_in_flight_ += due.ops;
  Metrics& metrics = context_.metrics();
  metrics.segments_launched.add();
  (due.hit ? metrics.segment_hits : metrics.segment_misses).add();
  metrics.cut(due.reason);
  AEE_LOG(kDebug, "queue ", queue_, " launches ", due.ops, " ops, ", due.hit ? "known" : "new", ": ",
          info(due.reason).counter);

  block_.erase(kHeadWords, end);
  ends_.erase(ends_.begin(), ends_.begin() + due.ops);
  for (std::uint32_t& place : ends_) place -= static_cast<std::uint32_t>(end - kHeadWords);
  if (!rest) waits_.clear();  // the rest keeps them: the order is the same, a reached wait costs nothing
  pending_.store(static_cast<std::uint32_t>(ends_.size()), std::memory_order_release);
}

}  // namespace aee
