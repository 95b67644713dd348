// SiteTable: what a recorder knows of the places where its segments ended, for explain(). A place is the trace node of
// a segment's last step. Nothing here is on the way of an op; most launches only count.
// Guarded by the recorder's lock; clocks are written by whoever runs launches.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "cache/trace_trie.h"
#include "core/engine/segment_cut.h"
#include "core/engine/site_report.h"
#include "core/runtime/launch.h"

namespace aee {

class SiteTable {
 public:
  /// A segment is launched: `due.ops` launches, one behind the other from `first`. The clock that shall measure it, or
  /// null; it lives as long as the table.
  LaunchClock* note(const SegmentCut& due, const Launch& first, TraceTrie& trie);
  /// An op of the segment that ends next took the host so long.
  void add_recording(std::uint64_t ns) noexcept {
    recorded_ns_ += ns;
    ++recorded_ops_;
  }
  /// The trie forgets the node.
  void forget(const TraceNode& node) noexcept;
  void report(std::vector<SiteReport>& reports) const;

 private:
  struct Site {
    SiteReport report;
    LaunchClock* clock = nullptr;
    std::uint64_t recorded_ns = 0, recorded_ops = 0;
  };
  LaunchClock* take_clock();

  std::unordered_map<const TraceNode*, Site> sites_;  // the node's `program` points to its site
  std::deque<LaunchClock> clocks_;
  std::vector<LaunchClock*> free_clocks_;             // a launch on its way may still write one: that only blurs a time
  std::uint64_t recorded_ns_ = 0, recorded_ops_ = 0;  // of no site yet
};

}  // namespace aee
