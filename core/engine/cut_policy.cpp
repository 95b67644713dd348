#include "core/engine/cut_policy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

namespace aee {
namespace {

constexpr std::uint32_t kStartOps = 8;      // budget of level 0
constexpr std::uint32_t kWindow = 4;        // a cut goes to the last 3/4 of a full segment
constexpr int kMissesToLower = 4;           // of the last eight launches
constexpr std::uint8_t kHitsToRaise = 32;   // in a row
constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15u;

std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

std::uint64_t power(std::uint64_t base, std::size_t exponent) noexcept {
  std::uint64_t result = 1;
  while (exponent-- > 0) result *= base;
  return result;
}

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
      costs_(costs) {}

void CutPolicy::begin(CutSite& site) noexcept {
  site_ = &site;
  if (after_wait_) {
    after_wait_ = false;
    wait_site_ = &site;
    plan_ops_ = site.wait_ops;
    plan_parts_ = site.wait_parts;
  }
  if (plan_parts_ == 0) return ramp();
  level_bit_ = 0;
  // The last part is left to the wait itself; one op more shows that it does not come.
  budget_ = plan_parts_ == 1 ? std::min(plan_ops_ + 1, max_ops_) : (plan_ops_ + plan_parts_ - 1) / plan_parts_;
}

void CutPolicy::ramp() noexcept {
  level_ = std::min(ramp_, top_ - site_->lowered);
  level_bit_ = 1u << level_;
  budget_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(max_ops_, std::uint64_t{start_} << level_));
}

// Note [Where a full segment is cut]
// Rank of a place: class, then a hash of the last kContext signatures up to it, then the latest. The hash is of the
// stream, not of the segment, so two laps that are out of phase still agree, and their cuts fall together.
std::uint32_t CutPolicy::choose(std::span<const CutCandidate> steps, std::span<const std::uint64_t> before) {
  const auto ops = static_cast<std::uint32_t>(steps.size());
  if (plan_parts_ > 1 || (plan_parts_ == 1 && ops <= plan_ops_)) return ops;
  if (plan_parts_ == 1) {
    plan_parts_ = wait_site_->wait_parts = 0;
    ramp();
    if (!full(ops)) return 0;
  }
  const std::uint64_t oldest = power(kMultiplier, kContext);
  std::uint64_t context = 0;
  for (const std::uint64_t signature : before) context = context * kMultiplier + signature;
  const std::uint32_t first = ops / kWindow - (ops >= kWindow ? 1 : 0);
  std::tuple<std::uint8_t, std::uint64_t, std::uint32_t> best{};
  for (std::uint32_t i = 0; i < ops; ++i) {
    const std::uint64_t leaving = i < kContext ? before[i] : steps[i - kContext].signature;
    context = context * kMultiplier + steps[i].signature - leaving * oldest;
    if (i >= first) best = std::max(best, {steps[i].cut_class, mix(context), i + 1});
  }
  return std::get<2>(best);
}

void CutPolicy::ended(std::uint32_t ops, bool hit) noexcept {
  since_wait_ += ops;
  if (plan_parts_ == 0) {
    adapt(hit);
  } else {
    plan_ops_ -= std::min(plan_ops_, ops);
    if (plan_parts_ > 1 && full(ops)) --plan_parts_;
  }
  ramp_ = std::min(top_, ramp_ + 1);
}

// New code never counts: a first step has to come back to be counted.
void CutPolicy::adapt(bool hit) noexcept {
  CutSite& site = *site_;
  if (site.seen) {
    site.misses = static_cast<std::uint8_t>(site.misses << 1 | (hit ? 0 : 1));
    site.hits_in_row = hit ? static_cast<std::uint8_t>(site.hits_in_row + 1) : std::uint8_t{0};
  }
  site.seen = true;
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

// Note [Parts between two waits]
// k ops in m launches take about k/m host times, m launch costs and k device times where the device is the slower side
// (the host's first part runs alone), and the same with host and device exchanged: best at m = sqrt(k * min / launch).
std::uint32_t CutPolicy::parts_of(std::uint32_t ops) const noexcept {
  const double share = std::min(costs_.host_us, costs_.device_us) / std::max(costs_.launch_us, 1e-3);
  const double parts = std::round(std::sqrt(ops * share));
  const std::uint32_t least = (ops + max_ops_ - 1) / max_ops_;
  return std::clamp(static_cast<std::uint32_t>(std::min<double>(parts, ops)), least, ops);
}

void CutPolicy::waited() noexcept {
  if (wait_site_ != nullptr && since_wait_ > 0) {
    const bool again = wait_site_->wait_ops == since_wait_;
    wait_site_->wait_parts = again ? parts_of(since_wait_) : 0;
    wait_site_->wait_ops = since_wait_;
  }
  wait_site_ = nullptr;
  after_wait_ = true;
  since_wait_ = plan_ops_ = plan_parts_ = 0;
  ramp_ = 0;
}

}  // namespace aee
