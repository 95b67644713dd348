#include "core/engine/engine.h"

#include <utility>

#include "core/base/error.h"

namespace aee {

Engine::Engine(Config config, const ThreadHooks& hooks) : config_(std::move(config)) {
  constexpr std::uint64_t kMostDevices = 16;
  if (config_.device_count < 1 || config_.device_count > kMostDevices) {
    fail_user("TORCH_NEURON_DEVICE_COUNT: expected 1 to ", kMostDevices, ", got ", config_.device_count);
  }
  for (std::uint64_t index = 0; index < config_.device_count; ++index) {
    devices_.push_back(std::make_unique<DeviceContext>(static_cast<int>(index), config_, metrics_, hooks));
  }
}

void Engine::watch(RecorderCounters counters) {
  const std::lock_guard guard(counters_mutex_);
  counters_.push_back(counters);
}

void Engine::forget(RecorderCounters counters) {
  collect_hits();
  const std::lock_guard guard(counters_mutex_);
  std::vector<RecorderCounters> kept;
  for (const RecorderCounters& one : counters_) {
    if (&one.single != &counters.single) kept.push_back(one);
  }
  counters_.swap(kept);
}

void Engine::collect_hits() {
  const std::lock_guard guard(counters_mutex_);
  for (const RecorderCounters& counters : counters_) {
    const std::uint64_t single = counters.single.collect();
    const std::uint64_t traced = counters.traced.collect();
    metrics_.ops_recorded.add(single + traced);
    metrics_.layout_hits.add(single + traced);
    metrics_.segments_launched.add(single);
    metrics_.segment_hits.add(single);
    metrics_.cuts[static_cast<std::size_t>(CutReason::kOpByOp)].add(single);
  }
}

void Engine::synchronize() {
  drain();
  for (const auto& device : devices_) device->synchronize();
}

void Engine::drain() {
  for (const auto& device : devices_) device->drain();
}

void Engine::dump_trace(const std::string& path) {
  const std::lock_guard guard(traces_mutex_);
  TraceWriter* writer = nullptr;
  if (!path.empty()) writer = traces_.emplace_back(std::make_unique<TraceWriter>(path)).get();
  TraceWriter* before = nullptr;
  for (const auto& device : devices_) {
    before = device->trace_writer();
    device->set_trace_writer(writer);
  }
  if (before != nullptr) before->close();
}

}  // namespace aee
