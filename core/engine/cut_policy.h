// CutPolicy: after which step a segment ends if nobody else ends it. It sees ops, never time, so a program is cut the
// same way in every run.
//
// Segments grow: level l has a budget of min(max, 8 * 2^l) ops, and each segment is a level above the one before, up to
// the ceiling of its first step. A full segment is cut *retroactively*, at the step whose surroundings have the highest
// rank, so that every lap of a loop chooses the same place, whatever its phase. Levels and places are remembered in the
// trie. Where waits come every k ops and it pays, the k ops are split into equal parts instead.
// One recorder's; what it remembers lies in CutSites, which must outlive their segment (the wait's: until waited()).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cache/trace_node.h"

namespace aee {

/// What work costs, in microseconds; for splitting the ops between two waits.
struct CutCosts {
  double host_us = 0.6;    ///< host, an op
  double device_us = 0.3;  ///< device, an op
  double launch_us = 1.0;  ///< device, a launch
};

/// What the policy sees of a step.
struct CutStep {
  std::uint64_t signature;  ///< hash of the step, without slots
  std::uint8_t cut_class;   ///< how good a cut after it is
};

class CutPolicy {
 public:
  /// Signatures of the last history() steps before a segment.
  using Before = std::span<const std::uint64_t>;

  CutPolicy(std::uint32_t max_ops, const CutCosts& costs);
  [[nodiscard]] std::size_t history() const noexcept { return wide_; }

  /// A segment begins with a step that has this site.
  void begin(CutSite& site) noexcept;
  /// Whether the segment ends at a step with these remembered levels.
  [[nodiscard]] bool remembered(std::uint32_t cut_levels) const noexcept { return (cut_levels & level_bit_) != 0; }
  /// Whether choose() must be asked after this many ops.
  [[nodiscard]] bool full(std::uint32_t ops) const noexcept { return ops >= budget_; }
  /// How many leading ops of a full segment to cut off.
  [[nodiscard]] std::uint32_t choose(std::span<const CutStep> steps, Before before) noexcept;
  /// Whether the open segment is a part of the ops between two waits; if not, its budget is its level's.
  [[nodiscard]] bool planned() const noexcept { return plan_parts_ != 0; }
  /// What to remember at the end of a segment that choose() cut.
  [[nodiscard]] std::uint32_t level_bit() const noexcept { return level_bit_; }

  /// The segment ended; it was launched before.
  void hit(std::uint32_t ops) noexcept { ended(ops, Outcome::kHit); }
  /// The segment ended; it was not launched before.
  void missed(std::span<const CutStep> steps, Before before) noexcept;

  /// Whether the next segment is the first after a wait: its site is written again by waited().
  [[nodiscard]] bool after_wait() const noexcept { return after_wait_; }
  /// The host waits for everything so far; no segment is open.
  void waited() noexcept;

 private:
  enum class Outcome : std::uint8_t { kHit, kMiss, kNewCode };

  void ended(std::uint32_t ops, Outcome outcome) noexcept;
  void set_level() noexcept;
  void adapt(Outcome outcome) noexcept;
  void plan(CutSite& site) const noexcept;
  [[nodiscard]] double time_of(std::uint32_t ops, std::uint32_t parts) const noexcept;
  [[nodiscard]] std::uint32_t best_parts(std::uint32_t ops) const noexcept;

  std::uint32_t max_ops_, start_, top_;
  std::size_t wide_;  // steps of the wide context
  CutCosts costs_;
  std::uint32_t ramp_ = 0;                   // level of the next segment, if its ceiling lets it
  std::uint32_t level_ = 0, level_bit_ = 0;  // of the open segment; no bit while a plan holds
  std::uint32_t budget_ = 1;
  CutSite* site_ = nullptr;              // of the open segment
  std::vector<std::uint32_t> contexts_;  // seen before, a few bits of each; newer ones replace older ones

  CutSite* wait_site_ = nullptr;  // of the first segment after the last wait
  bool after_wait_ = true;
  std::uint32_t since_wait_ = 0;                 // ops
  double host_us_ = 0, device_us_ = 0;           // when host and device are done with them, by the costs
  std::uint32_t plan_ops_ = 0, plan_parts_ = 0;  // left until the next wait; no parts: no plan
};

}  // namespace aee
