// Engine: all devices of one configuration and their counters. An object, so that tests make as many as they like; the
// one behind torch.neuron lives in bindings/torch.
// Threads: any. Destruction finishes accepted work; nobody may use a device or a buffer of it afterwards.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/config.h"
#include "core/base/metrics.h"
#include "core/engine/device_context.h"
#include "core/engine/hit_counter.h"
#include "core/engine/trace_stream.h"

namespace aee {

/// What one recorder thread counts.
struct RecorderCounters {
  HitCounter& single;  ///< steps launched one by one
  HitCounter& traced;  ///< steps recorded into segments
};

class Engine {
 public:
  Engine(Config config, const ThreadHooks& hooks);

  [[nodiscard]] const Config& config() const noexcept { return config_; }
  /// The counters to add to; read them after collect_hits().
  [[nodiscard]] Metrics& metrics() noexcept { return metrics_; }
  /// Makes the counters count what recorders did. They live until forget(), which collects them for the last time.
  void watch(RecorderCounters counters);
  void forget(RecorderCounters counters);
  void collect_hits();
  [[nodiscard]] int device_count() const noexcept { return static_cast<int>(devices_.size()); }
  /// Undefined unless 0 <= index < device_count().
  [[nodiscard]] DeviceContext& device(int index) noexcept { return *devices_[static_cast<std::size_t>(index)]; }
  /// Waits for all devices; raises the first failure that nobody was told of.
  void synchronize();
  /// Writes what recorders do from now on to a file (trace_stream.h), instead of to an earlier one; empty: to none.
  /// Throws Error if the new file cannot be written, or the old one was not.
  void dump_trace(const std::string& path);
  /// Waits for all devices; raises nothing.
  void drain();

 private:
  Config config_;
  Metrics metrics_;
  std::mutex traces_mutex_;                           // guards traces_
  std::vector<std::unique_ptr<TraceWriter>> traces_;  // all that ever were: a recorder may be writing. Before devices_
  std::vector<std::unique_ptr<DeviceContext>> devices_;
  std::mutex counters_mutex_;  // guards counters_
  std::vector<RecorderCounters> counters_;
};

}  // namespace aee
