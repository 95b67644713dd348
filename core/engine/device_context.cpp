#include "core/engine/device_context.h"

#include <algorithm>

#include "core/base/config.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/thread_number.h"
#include "core/engine/segment_recorder.h"
#include "core/runtime/submit.h"

namespace aee {
namespace {

// Typical of small ops from Python on the emulator, as measured: what a synchronous loop overlaps, and what a cut
// costs.
constexpr CutCosts kCosts{.host_us = 1.2, .device_us = 0.5, .launch_us = 0.15};

// Until ops are fused a longer segment only makes its launch cheaper an op. So its ops are bounded by what makes a
// launch cost some percent of them; what waits at a sync point stays short.
constexpr std::uint32_t kLeastMaxOps = 16;
constexpr double kMaxOpsPerUs = 24;              // of launch cost
constexpr std::uint64_t kMostSegmentOps = 2048;  // with what is in flight, pending work stays below 4096 ops

}  // namespace

DeviceContext::DeviceContext(int index, const Config& config, Metrics& metrics, const ThreadHooks& hooks)
    : index_(index),
      metrics_(metrics),
      hooks_(hooks),
      device_(make_device(config, metrics, hooks)),
      pool_(index, config.address_space_bytes, device_->capabilities().memory_bytes),
      streams_(*device_),
      max_segment_ops_(
          static_cast<std::uint32_t>(std::clamp<std::uint64_t>(config.max_segment_ops, 1, kMostSegmentOps))) {
  // Threads start on the default stream, whose queue they take to be number 0.
  const QueueId first = queue(kDefaultStream);
  AEE_CHECK(first == 0, "the default stream got queue ", first);
}

QueueId DeviceContext::queue(StreamId stream) {
  const QueueId queue = streams_.queue(stream);
  QueueId known = queues_.load(std::memory_order_relaxed);
  while (known <= queue && !queues_.compare_exchange_weak(known, static_cast<QueueId>(queue + 1))) {
  }
  return queue;
}

DeviceContext::~DeviceContext() {
  cut_all(CutReason::kShutdown, /*waiting=*/false);
  drain(CutReason::kShutdown);  // no launch holds a buffer when the pool goes
}

MemoryStats DeviceContext::memory_stats() {
  for (QueueId queue = 0; queue < queues_.load(std::memory_order_acquire); ++queue) {
    const std::uint64_t done = device_->completed(queue);
    if (done != 0) device_->wait(timepoint(queue, done), WaitMode::kIdle);  // it gives back what they held
  }
  return pool_.stats();
}

void DeviceContext::trim() {
  drain();
  pool_.trim();
  device_->trim();
}

void DeviceContext::settle_pending(Buffer& buffer, CutReason reason, bool waiting) {
  const PendingTag writer = buffer.pending_writer.load(std::memory_order_acquire);
  if (writer != 0) SegmentRecorder::from_tag(writer)->cut(reason, waiting);
  const PendingTag reader = buffer.pending_reader.load(std::memory_order_acquire);
  if (reader == kManyReaders) {
    cut_all(reason, waiting);
    buffer.pending_reader.store(0, std::memory_order_release);
  } else if (reader != 0) {
    SegmentRecorder::from_tag(reader)->cut(reason, waiting);
  }
}

SegmentRecorder* DeviceContext::take_recorder(QueueId queue) {
  const std::lock_guard guard(recorders_mutex_);
  for (SegmentRecorder*& free : free_recorders_) {
    if (free->queue() != queue) continue;
    SegmentRecorder* taken = free;
    free = free_recorders_.back();
    free_recorders_.pop_back();
    return taken;
  }
  TracerLimits limits;
  limits.costs = kCosts;
  limits.costs.launch_us += device_->capabilities().launch_cost_us;
  const auto enough = static_cast<std::uint32_t>(kMaxOpsPerUs * limits.costs.launch_us);
  limits.max_ops = std::min(max_segment_ops_, std::max(kLeastMaxOps, enough));
  recorders_.push_back(std::make_unique<SegmentRecorder>(*this, queue, limits));
  return recorders_.back().get();
}

void DeviceContext::give_back(SegmentRecorder* recorder) {
  recorder->cut(CutReason::kShutdown, /*waiting=*/false);
  const std::lock_guard guard(recorders_mutex_);
  free_recorders_.push_back(recorder);
}

std::vector<SiteReport> DeviceContext::explain() {
  std::vector<SegmentRecorder*> recorders;
  {
    const std::lock_guard guard(recorders_mutex_);
    for (const auto& recorder : recorders_) recorders.push_back(recorder.get());
  }
  std::vector<SiteReport> reports;
  for (SegmentRecorder* recorder : recorders) recorder->explain(reports);
  std::sort(reports.begin(), reports.end(), [](const SiteReport& a, const SiteReport& b) {
    return a.launches != b.launches ? a.launches > b.launches : a.first < b.first;
  });
  return reports;
}

void DeviceContext::cut_queue(QueueId queue, CutReason reason, bool waiting) {
  for (std::size_t i = 0;; ++i) {
    SegmentRecorder* recorder = nullptr;
    {
      const std::lock_guard guard(recorders_mutex_);
      if (i == recorders_.size()) return;
      recorder = recorders_[i].get();
    }
    if (recorder->queue() == queue) recorder->cut(reason, waiting);
  }
}

void DeviceContext::cut_all(CutReason reason, bool waiting) {
  for (QueueId queue = 0; queue < queues_.load(std::memory_order_acquire); ++queue) cut_queue(queue, reason, waiting);
}

BufferRef DeviceContext::acquire_under_pressure(std::size_t bytes) {
  AEE_LOG(kInfo, "neuron:", index_, " is short of memory: ", bytes, " bytes must wait for work in flight");
  drain(CutReason::kMemory);
  BufferRef buffer = pool_.acquire(bytes);
  if (buffer) return buffer;
  trim();
  pool_.count_out_of_memory();
  const MemoryStats stats = pool_.stats();
  fail(ErrorKind::kOutOfMemory, "neuron:", index_, " is out of memory: tried to allocate ", bytes, " bytes, ",
       stats.allocated, " of ", stats.limit,
       " bytes are in use; free tensors, use smaller batches, or raise TORCH_NEURON_MEMORY_BYTES");
}

void DeviceContext::submit_full(QueueId queue, const Launch& launch, Timepoint* point) {
  *point = submit_when_room(*device_, queue, launch, &metrics_.queue_full_waits);
}

void DeviceContext::raise_failure(Buffer& buffer) {
  const FailurePtr failure = buffer.failure();
  if (failure == nullptr) return;
  if (!failure->tell(this_thread_number()) && buffer.backing().object != nullptr) {
    // Only ever to be written by launches that did not run, and the user knows: what it holds is whole.
    buffer.clear_failure();
    return;
  }
  std::rethrow_exception(failure->cause);
}

void DeviceContext::raise_untold(QueueId queue) {
  while (const FailurePtr failure = device_->take_failure(queue)) {
    if (failure->tell(this_thread_number())) std::rethrow_exception(failure->cause);
  }
}

void DeviceContext::synchronize_buffer(Buffer& buffer) {
  metrics_.syncs.add();
  settle(buffer, CutReason::kHostRead, /*waiting=*/true);
  const Timepoint point = buffer.last_use();
  if (!reached(point)) device_->wait(point, WaitMode::kHelp);
  check(buffer);
  if (!point.none()) raise_untold(static_cast<QueueId>(point.queue));
}

void DeviceContext::synchronize_queue(QueueId queue) {
  metrics_.syncs.add();
  cut_queue(queue, CutReason::kSynchronize, /*waiting=*/true);
  const std::uint64_t last = device_->submitted(queue);
  if (last != 0) device_->wait(timepoint(queue, last), WaitMode::kHelp);
  raise_untold(queue);
}

void DeviceContext::synchronize() {
  drain();
  metrics_.syncs.add();
  for (QueueId queue = 0; queue < queues_.load(std::memory_order_acquire); ++queue) raise_untold(queue);
}

void DeviceContext::drain(CutReason reason) {
  cut_all(reason, /*waiting=*/true);
  for (QueueId queue = 0; queue < queues_.load(std::memory_order_acquire); ++queue) {
    const std::uint64_t last = device_->submitted(queue);
    if (last != 0) device_->wait(timepoint(queue, last), WaitMode::kHelp);
  }
}

}  // namespace aee
