#include "core/engine/site_table.h"

#include <utility>

#include "core/base/cut_reason.h"
#include "core/base/error.h"

namespace aee {
namespace {

// Reading the clock twice costs as much as a small op, so only some launches are measured: the first ones, then every
// 64th.
constexpr std::uint64_t kMeasuredFirst = 4, kMeasuredEvery = 64;

std::string describe(const TraceDifference& difference) {
  const std::string where = concat("step ", difference.step);
  switch (difference.kind) {
    case TraceDifference::Kind::kNone:
      return {};
    case TraceDifference::Kind::kEnd:
      return "every step is known, but no segment ended here";
    case TraceDifference::Kind::kBeyond:
      return where + " is beyond the end of every known trace";
    case TraceDifference::Kind::kWord:
      return concat(where, ": word ", difference.index, " of its key is ", difference.found, ", known is ",
                    difference.known);
    case TraceDifference::Kind::kOperand:
      return concat(where, ": operand ", difference.index, " is another buffer");
  }
  return {};
}

const Launch& behind(const Launch& launch) noexcept {
  return *reinterpret_cast<const Launch*>(reinterpret_cast<const std::byte*>(&launch) + launch.size);
}

/// Ops, bytes and what outlives the segment.
void describe_segment(const Launch& first, std::uint32_t ops, SiteReport& report) {
  struct Use {
    std::uint32_t names = 0;  // of launches of the segment, each with a reference
    bool made = false;
  };
  std::unordered_map<const Buffer*, Use> uses;
  const Launch* launch = &first;
  for (std::uint32_t i = 0; i < ops; ++i, launch = &behind(*launch)) {
    std::size_t index = 0;
    for (const Buffer* buffer : launch->buffers()) {
      Use& use = uses[buffer];
      ++use.names;
      use.made |= index++ < launch->fresh_count;
    }
    if (i == 0) report.first = launch->describe(*launch);
    if (i + 1 == ops) report.last = launch->describe(*launch);
  }
  report.ops = ops;
  for (const auto& [buffer, use] : uses) {
    report.bytes += buffer->bytes();
    report.live_outs += use.made && buffer->references() > use.names ? 1 : 0;
  }
}

}  // namespace

LaunchClock* SiteTable::take_clock() {
  if (free_clocks_.empty()) return &clocks_.emplace_back();
  LaunchClock* clock = free_clocks_.back();
  free_clocks_.pop_back();
  clock->reset();
  return clock;
}

LaunchClock* SiteTable::note(const SegmentCut& due, const Launch& first, TraceTrie& trie) {
  if (due.end->program == nullptr) {
    Site& made = sites_[due.end];
    due.end->program = &made;
    trie.charge(*due.end, 2 * sizeof(Site));
    made.clock = take_clock();
    describe_segment(first, due.ops, made.report);
  }
  Site& site = *static_cast<Site*>(due.end->program);
  SiteReport& report = site.report;
  const std::uint64_t before = report.launches++;
  report.hits += due.hit ? 1 : 0;
  report.cut = info(due.reason).counter;
  if (!due.hit) report.difference = describe(due.difference);
  site.recorded_ns += std::exchange(recorded_ns_, 0);
  site.recorded_ops += std::exchange(recorded_ops_, 0);
  return before < kMeasuredFirst || before % kMeasuredEvery == 0 ? site.clock : nullptr;
}

void SiteTable::forget(const TraceNode& node) noexcept {
  const auto found = sites_.find(&node);
  if (found == sites_.end()) return;
  free_clocks_.push_back(found->second.clock);
  sites_.erase(found);
}

void SiteTable::report(std::vector<SiteReport>& reports) const {
  for (const auto& [node, site] : sites_) {
    SiteReport& report = reports.emplace_back(site.report);
    report.device_us = site.clock->mean_us();
    if (site.recorded_ops != 0) {
      report.recording_us = static_cast<double>(site.recorded_ns) / 1e3 / static_cast<double>(site.recorded_ops);
    }
  }
}

}  // namespace aee
