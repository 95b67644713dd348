// CutSimulator: drives a SegmentTracer with a synthetic stream and logs its segments, without data or clocks.
//
// A logged segment is a hit if the tracer knows it and it was launched before with the same values alive at its end, as
// a Program wants it.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/base/hash.h"
#include "core/engine/segment_tracer.h"
#include "tests/engine/step_streams.h"

namespace aee::test {

class CutSimulator {
 public:
  struct Segment {
    std::size_t first, ops;  ///< place in the stream, in ops
    std::uint32_t lap;       ///< in which it was launched
    CutReason reason;
    bool hit = false;       ///< its program is known
    bool known = false;     ///< its steps are known to the tracer
    bool launched = false;  ///< its steps were launched before, as the simulator remembers them
    bool operator==(const Segment&) const = default;
  };

  /// `identity`: added to every value to make the identity of its buffer.
  explicit CutSimulator(std::uint32_t max_ops, CutCosts costs = {}, std::size_t trie_bytes = std::size_t{1} << 30,
                        std::uint64_t identity = 0)
      : tracer_({.max_ops = max_ops, .trie_bytes = trie_bytes, .costs = costs}), identity_(identity) {}

  /// Runs the stream. Its last ops stay pending, as they would in a program that goes on.
  void run(const Stream& stream) {
    begin(stream);
    for (const StreamEvent& event : stream) {
      if (event.kind == StreamEvent::Kind::kLap) lap_starts_.push_back(ops_.size());
      if (event.kind == StreamEvent::Kind::kWait) wait();
      if (event.kind == StreamEvent::Kind::kOp) add(event);
    }
  }
  /// For streams that are run in pieces: the last uses of their values.
  void begin(const Stream& stream) {
    std::size_t place = ops_.size();
    for (const StreamEvent& event : stream) {
      if (event.kind != StreamEvent::Kind::kOp) continue;
      for (const std::uint64_t value : event.inputs) last_use_[value + identity_] = place;
      last_use_.try_emplace(event.output + identity_, place++);
    }
  }
  void add(const StreamEvent& event) {
    operands_.clear();
    key_.assign({event.signature, event.inputs.size()});
    for (const std::uint64_t input : event.inputs) {
      const std::uint64_t value = input + identity_;
      const auto found = std::find(operands_.begin(), operands_.end(), value);
      key_.push_back(static_cast<std::uint64_t>(found - operands_.begin()));
      if (found == operands_.end()) operands_.push_back(value);
    }
    operands_.push_back(event.output + identity_);
    ops_.push_back({key_, operands_});
    const std::uint64_t hash = hash64(key_.data(), key_.size() * sizeof(std::uint64_t));
    tracer_.add({key_, hash, operands_, event.cut_class}, [this](const SegmentCut& cut) { log(cut); });
  }
  void wait() {
    tracer_.cut(CutReason::kHostRead, /*waiting=*/true, [this](const SegmentCut& cut) { log(cut); });
    waits_.push_back(ops_.size());
  }

  [[nodiscard]] const std::vector<Segment>& segments() const noexcept { return segments_; }
  [[nodiscard]] SegmentTracer& tracer() noexcept { return tracer_; }
  [[nodiscard]] std::size_t ops() const noexcept { return ops_.size(); }
  [[nodiscard]] const std::vector<std::size_t>& waits() const noexcept { return waits_; }
  /// Where laps begin, in ops.
  [[nodiscard]] const std::vector<std::size_t>& laps() const noexcept { return lap_starts_; }

  /// Share of hits among the segments that begin at or after an op and end before another.
  [[nodiscard]] double hit_ratio(std::size_t from, std::size_t to = ~std::size_t{0}) const {
    std::size_t hits = 0, all = 0;
    for (const Segment& segment : segments_) {
      if (segment.first < from || segment.first + segment.ops > to) continue;
      ++all;
      hits += segment.hit ? 1 : 0;
    }
    return all == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(all);
  }

 private:
  void log(const SegmentCut& cut) {
    const std::size_t end = launched_ + cut.ops;
    std::unordered_map<std::uint64_t, std::uint64_t> slots;
    std::vector<std::uint64_t> steps;
    std::uint64_t alive = 0;  // a hash of the set of slots that live on; collisions do not matter here
    for (std::size_t i = launched_; i < end; ++i) {
      steps.insert(steps.end(), ops_[i].key.begin(), ops_[i].key.end());
      for (const std::uint64_t value : ops_[i].operands) {
        const auto [slot, fresh] = slots.try_emplace(value, slots.size());
        steps.push_back(slot->second);
        if (fresh && last_use_[value] >= end) alive += hash64(&slot->second, sizeof slot->second);
      }
    }
    const bool fresh = programs_[cut.end].insert(alive).second;
    Segment segment{launched_, cut.ops, static_cast<std::uint32_t>(lap_starts_.size()), cut.reason};
    segment.hit = cut.hit && !fresh;
    segment.known = cut.hit;
    segment.launched = !seen_.insert(std::move(steps)).second;
    segments_.push_back(segment);
    launched_ = end;
  }

  SegmentTracer tracer_;
  std::uint64_t identity_;
  std::vector<std::uint64_t> key_, operands_;
  struct Op {
    std::vector<std::uint64_t> key, operands;
  };
  std::vector<Op> ops_;
  std::unordered_map<std::uint64_t, std::size_t> last_use_;
  std::map<const TraceNode*, std::set<std::uint64_t>> programs_;
  std::set<std::vector<std::uint64_t>> seen_;  // steps and slots of every segment
  std::vector<Segment> segments_;
  std::vector<std::size_t> waits_, lap_starts_;
  std::size_t launched_ = 0;
};

}  // namespace aee::test
