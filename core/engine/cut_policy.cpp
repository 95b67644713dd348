#include "core/engine/cut_policy.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace aee {
namespace {

constexpr std::uint32_t kStartOps = 8;     // budget of level 0
constexpr std::uint32_t kWindow = 4;       // a cut goes to the last 3/4 of a full segment
constexpr int kMissesToLower = 4;          // of the last eight launches
constexpr std::uint8_t kHitsToRaise = 32;  // in a row
constexpr std::uint32_t kNewCode = 4;      // a quarter of new contexts makes a miss new code
constexpr std::size_t kContext = 8;        // steps of a context
constexpr std::size_t kMostWide = 2048;    // steps of a wide context
constexpr std::size_t kContextCells = 8192;
constexpr double kHostLaunchUs = 0.3;
constexpr double kHostWaitUs = 0.4;  // from the last op to the wait
constexpr double kWorthIt = 1.02;    // what a plan must gain over growing budgets
constexpr std::uint32_t kMostParts = 128;

std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

// A hash of the last `width` signatures, step by step, over the start of the segment.
class Context {
 public:
  Context(std::span<const CutStep> steps, CutPolicy::Before before, std::size_t width) noexcept
      : steps_(steps), before_(before.last(width)) {
    for (const std::uint64_t signature : before_) {
      sum_ = sum_ * kMultiplier + signature;
      oldest_ *= kMultiplier;
    }
  }
  std::uint64_t next() noexcept {
    const std::size_t width = before_.size();
    const std::uint64_t leaving = at_ < width ? before_[at_] : steps_[at_ - width].signature;
    sum_ = sum_ * kMultiplier + steps_[at_++].signature - leaving * oldest_;
    return mix(sum_);
  }

 private:
  static constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15u;
  std::span<const CutStep> steps_;
  std::span<const std::uint64_t> before_;
  std::uint64_t sum_ = 0, oldest_ = 1;
  std::size_t at_ = 0;
};

// The first level whose budget is the whole of max_ops.
std::uint32_t top_level(std::uint32_t max_ops, std::uint32_t start) noexcept {
  std::uint32_t level = 0;
  while ((std::uint64_t{start} << level) < max_ops) ++level;
  return level;
}

}  // namespace

CutPolicy::CutPolicy(std::uint32_t max_ops, const CutCosts& costs)
    : max_ops_(std::max(1u, max_ops)),
      start_(std::min(kStartOps, max_ops_)),
      top_(top_level(max_ops_, start_)),
      wide_(std::clamp<std::size_t>(max_ops_ / 2, kContext, kMostWide)),
      costs_(costs),
      contexts_(kContextCells) {}

void CutPolicy::begin(CutSite& site) noexcept {
  site_ = &site;
  if (after_wait_) {
    after_wait_ = false;
    wait_site_ = &site;
    plan_ops_ = site.wait_ops;
    plan_parts_ = site.wait_parts;
  }
  if (plan_parts_ == 0) return set_level();
  level_bit_ = 0;
  budget_ = (plan_ops_ + plan_parts_ - 1) / plan_parts_;
}

void CutPolicy::set_level() noexcept {
  level_ = std::min(ramp_, top_ - site_->lowered);
  level_bit_ = 1u << level_;
  budget_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(max_ops_, std::uint64_t{start_} << level_));
}

// Note [Where a full segment is cut]
// The rank of a place is its class, then the hash of its context, then that of its wide context, then the latest.
// Contexts are of the stream, not of the segment, so two laps that are out of phase agree, and their cuts fall
// together. Wide contexts tell the layers of a deep model apart, which else would be cut each time after as many layers
// as fit. A remembered cut needs a path that tells contexts apart: a short one stands for many places, and a cut
// remembered for one of them would shift all others. So no cut leaves less than a context, where the budget lets it.
std::uint32_t CutPolicy::choose(std::span<const CutStep> steps, Before before) noexcept {
  const auto ops = static_cast<std::uint32_t>(steps.size());
  if (plan_parts_ > 0) return ops;
  const std::uint32_t least = std::max({1u, ops / kWindow, std::min<std::uint32_t>(kContext, ops / 2)});
  Context context(steps, before, kContext), wide(steps, before, wide_);
  std::tuple<std::uint8_t, std::uint64_t, std::uint64_t, std::uint32_t> best{};
  for (std::uint32_t i = 1; i <= ops; ++i) {
    const std::uint64_t hash = context.next(), wide_hash = wide.next();
    if (i >= least) best = std::max(best, {steps[i - 1].cut_class, hash, wide_hash, i});
  }
  return std::get<3>(best);
}

// Note [New code]
// The first lap of a loop misses everywhere, and where few ops begin many segments, their sites would be lowered by it
// and raised again later, each time with other cuts. So a miss counts against a site only if most of its contexts were
// seen before, and only at levels that the site had before.
void CutPolicy::missed(std::span<const CutStep> steps, Before before) noexcept {
  Context context(steps, before, kContext);
  std::size_t fresh = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::uint64_t hash = context.next();
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    fresh += std::exchange(contexts_[hash % kContextCells], tag) != tag ? 1 : 0;
  }
  ended(static_cast<std::uint32_t>(steps.size()), kNewCode * fresh > steps.size() ? Outcome::kNewCode : Outcome::kMiss);
}

void CutPolicy::ended(std::uint32_t ops, Outcome outcome) noexcept {
  since_wait_ += ops;
  host_us_ += ops * costs_.host_us + kHostLaunchUs;
  device_us_ = std::max(device_us_, host_us_) + costs_.launch_us + ops * costs_.device_us;
  if (plan_parts_ == 0) {
    adapt(outcome);
  } else {
    plan_ops_ -= std::min(plan_ops_, ops);
    if (full(ops) || plan_ops_ == 0) --plan_parts_;
  }
  ramp_ = std::min(top_, ramp_ + 1);
}

void CutPolicy::adapt(Outcome outcome) noexcept {
  CutSite& site = *site_;
  const bool hit = outcome == Outcome::kHit;
  if ((site.levels & level_bit_) != 0 && outcome != Outcome::kNewCode) {
    site.misses = static_cast<std::uint8_t>(site.misses << 1 | (hit ? 0 : 1));
    site.hits_in_row = hit ? static_cast<std::uint8_t>(site.hits_in_row + 1) : std::uint8_t{0};
  }
  site.levels |= level_bit_;
  if (std::popcount(site.misses) >= kMissesToLower) {
    const std::uint32_t ceiling = std::max(1u, std::min(top_ - site.lowered, level_)) - 1;
    site.lowered = static_cast<std::uint8_t>(top_ - std::min(top_, ceiling));
    site.misses = 0;
  }
  if (site.hits_in_row >= kHitsToRaise) {
    if (site.lowered > 0) --site.lowered;
    site.hits_in_row = 0;
  }
}

void CutPolicy::waited() noexcept {
  if (wait_site_ != nullptr) plan(*wait_site_);
  wait_site_ = nullptr;
  after_wait_ = true;
  since_wait_ = plan_ops_ = plan_parts_ = 0;
  host_us_ = device_us_ = 0;
  ramp_ = 0;
}

// A site's first count is taken on trust; after a wait that came elsewhere, two in a row must agree.
void CutPolicy::plan(CutSite& site) const noexcept {
  const bool steady = site.wait_ops == 0 || site.wait_ops == since_wait_;
  if (!steady) site.wait_parts = 0;
  site.wait_ops = since_wait_;
  if (!steady || site.wait_parts != 0) return;
  const std::uint32_t parts = best_parts(since_wait_);
  if (kHostWaitUs + std::max(host_us_, device_us_) > kWorthIt * time_of(since_wait_, parts)) site.wait_parts = parts;
}

// Note [Parts between two waits]
// The host records part after part; the device runs each when it is recorded and the one before is done. So the slower
// side sets the pace, and the other one adds one part. This is best at about sqrt(k * min(host, device) / launch)
// parts. The last one is launched when it is full, too, and runs while the host is on its way to wait for it.
double CutPolicy::time_of(std::uint32_t ops, std::uint32_t parts) const noexcept {
  const double part = static_cast<double>(ops) / parts;
  const double host = part * costs_.host_us + kHostLaunchUs, device = part * costs_.device_us + costs_.launch_us;
  return host + std::max(device, kHostWaitUs) + (parts - 1) * std::max(host, device);
}

std::uint32_t CutPolicy::best_parts(std::uint32_t ops) const noexcept {
  std::uint32_t best = (ops + max_ops_ - 1) / max_ops_;
  const std::uint32_t most = std::min(ops, best + kMostParts);
  for (std::uint32_t parts = best + 1; parts <= most; ++parts) {
    if (time_of(ops, parts) < time_of(ops, best)) best = parts;
  }
  return best;
}

}  // namespace aee
