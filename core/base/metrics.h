// Metrics: the counters behind torch.neuron.metrics(), one Counter per row of metrics.inc and one per cut reason.
//
// A Counter is exact and cheap under many threads: it is cut into cache lines of its own, and a thread adds to the one
// that its thread pointer chooses. Reading sums the lines, so a snapshot taken while threads add is not of one instant.
// Threads: everything from any thread. Owned by the engine; the runtime keeps a reference.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/cut_reason.h"

namespace aee {

/// A number that many threads add to.
class Counter {
 public:
  void add(std::uint64_t n = 1) noexcept { shards_[shard()].value.fetch_add(n, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t value() const noexcept {
    std::uint64_t sum = 0;
    for (const Shard& shard : shards_) sum += shard.value.load(std::memory_order_relaxed);
    return sum;
  }
  /// Adds that run at the same time may be lost or kept.
  void reset() noexcept {
    for (Shard& shard : shards_) shard.value.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kShards = 8;
  struct alignas(64) Shard {
    std::atomic<std::uint64_t> value{0};
  };

  /// The thread pointer is unique among living threads and costs one register read; thread stacks lie far apart, so
  /// the multiplication spreads its middle bits. A collision costs time, never a count.
  static std::size_t shard() noexcept {
    const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
    return (static_cast<std::uint64_t>(thread >> 12) * 0x9E3779B97F4A7C15u) >> 61;
  }

  std::array<Shard, kShards> shards_;
};

class Metrics {
 public:
#define AEE_METRIC(field, doc) Counter field;
#include "core/base/metrics.inc"

  /// Counts a cut under its reason.
  void cut(CutReason reason) noexcept { cuts[static_cast<std::size_t>(reason)].add(); }
  std::array<Counter, kCutReasonCount> cuts;

  /// Names and values: metrics.inc, then cut_reason.inc, in the order of the tables.
  [[nodiscard]] std::vector<std::pair<std::string_view, std::uint64_t>> snapshot() const;
  /// Sets every counter to 0.
  void reset() noexcept;
};

/// A row of the documentation: name and line, in the order of snapshot().
[[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> metrics_table();

}  // namespace aee
