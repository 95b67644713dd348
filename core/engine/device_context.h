// DeviceContext: one device with its buffers and streams, and the few ways in which host threads meet it: get a
// buffer, submit a launch, wait. What a full queue, a full memory and a failed launch mean is decided here, once.
// Any thread. Owned by the Engine.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/cut_reason.h"
#include "core/base/metrics.h"
#include "core/runtime/buffer.h"
#include "core/runtime/device.h"
#include "core/runtime/stream.h"

namespace aee {

class SegmentRecorder;
class TraceWriter;
struct SiteReport;

class DeviceContext {
 public:
  DeviceContext(int index, const Config& config, Metrics& metrics, const ThreadHooks& hooks);
  ~DeviceContext();

  [[nodiscard]] int index() const noexcept { return index_; }
  [[nodiscard]] Device& device() noexcept { return *device_; }
  [[nodiscard]] BufferPool& pool() noexcept { return pool_; }
  [[nodiscard]] StreamTable& streams() noexcept { return streams_; }
  /// The queue of a stream. Throws Error for a stream that does not exist.
  [[nodiscard]] QueueId queue(StreamId stream);
  [[nodiscard]] Metrics& metrics() noexcept { return metrics_; }
  [[nodiscard]] const ThreadHooks& hooks() const noexcept { return hooks_; }
  /// Where recorders write what they do; null: nowhere. The writer must live as long as this.
  [[nodiscard]] TraceWriter* trace_writer() const noexcept { return trace_writer_.load(std::memory_order_acquire); }
  void set_trace_writer(TraceWriter* writer) noexcept { trace_writer_.store(writer, std::memory_order_release); }

  /// A buffer of `bytes`. If memory is short, waits for work in flight, gives caches back and tries again; then throws
  /// Error(kOutOfMemory) with the figures.
  [[nodiscard]] BufferRef acquire(std::size_t bytes, Birth birth = Birth::kClean) {
    BufferRef buffer = pool_.acquire(bytes, birth);
    if (!buffer) [[unlikely]]
      return acquire_under_pressure(bytes);
    return buffer;
  }

  /// The accounts of the buffers, with what complete launches held given back.
  [[nodiscard]] MemoryStats memory_stats();
  /// Waits for all work, then gives memory that nobody uses back to the system.
  void trim();

  /// Submits; waits while the queue is full.
  Timepoint submit(QueueId queue, const Launch& launch) {
    Timepoint point;
    if (device_->submit(queue, launch, &point) != Submitted::kAccepted) [[unlikely]]
      submit_full(queue, launch, &point);
    return point;
  }

  /// Whether the timepoint is reached.
  [[nodiscard]] bool reached(Timepoint point) const noexcept {
    return point.none() || device_->completed(static_cast<QueueId>(point.queue)) >= point.sequence;
  }

  /// Launches what recorders hold back that uses the buffer.
  void settle(Buffer& buffer, CutReason reason, bool waiting = false) {
    if ((buffer.pending_writer.load(std::memory_order_acquire) |
         buffer.pending_reader.load(std::memory_order_acquire)) != 0) [[unlikely]] {
      settle_pending(buffer, reason, waiting);
    }
  }
  /// Whether nothing recorded so far uses the buffer any more.
  [[nodiscard]] bool idle(const Buffer& buffer) const noexcept {
    return buffer.pending_writer.load(std::memory_order_acquire) == 0 &&
           buffer.pending_reader.load(std::memory_order_acquire) == 0 && reached(buffer.last_use());
  }
  /// Waits until nothing recorded so far uses the buffer, without looking at failures.
  void wait_for(Buffer& buffer, CutReason reason = CutReason::kHostRead) {
    settle(buffer, reason, /*waiting=*/true);
    const Timepoint point = buffer.last_use();
    if (!reached(point)) device_->wait(point, WaitMode::kHelp);
  }
  /// Raises the buffer's failure if it has one; clears it where the old content is whole and the failure was told.
  void check(Buffer& buffer) {
    if (buffer.failed()) [[unlikely]]
      raise_failure(buffer);
  }

  /// A sync point for a host read of one buffer: waits, then raises what failed before it.
  void synchronize_buffer(Buffer& buffer);
  /// A sync point for one queue. Raises the first failure that nobody was told of, once.
  void synchronize_queue(QueueId queue);
  /// A sync point for all queues.
  void synchronize();
  /// Waits for all queues; raises nothing.
  void drain(CutReason reason = CutReason::kSynchronize);

  /// A recorder for a queue, for one thread; give it back when the thread ends.
  [[nodiscard]] SegmentRecorder* take_recorder(QueueId queue);
  void give_back(SegmentRecorder* recorder);
  /// Reports of every place where segments ended, most launched first.
  [[nodiscard]] std::vector<SiteReport> explain();
  /// Launches what recorders of a queue (of all queues) hold back.
  void cut_queue(QueueId queue, CutReason reason, bool waiting);
  void cut_all(CutReason reason, bool waiting);

 private:
  void settle_pending(Buffer& buffer, CutReason reason, bool waiting);
  void raise_failure(Buffer& buffer);
  void raise_untold(QueueId queue);
  [[nodiscard]] BufferRef acquire_under_pressure(std::size_t bytes);
  void submit_full(QueueId queue, const Launch& launch, Timepoint* point);

  int index_;
  Metrics& metrics_;
  const ThreadHooks hooks_;
  std::atomic<TraceWriter*> trace_writer_{nullptr};
  std::unique_ptr<Device> device_;
  BufferPool pool_;
  StreamTable streams_;
  std::atomic<QueueId> queues_{0};  // number of queues in use: those with a lower id
  const std::uint32_t max_segment_ops_;
  std::mutex recorders_mutex_;                               // guards the next two; never held while a recorder is cut
  std::vector<std::unique_ptr<SegmentRecorder>> recorders_;  // never shrinks: a tag may be looked at at any time
  std::vector<SegmentRecorder*> free_recorders_;
};

}  // namespace aee
