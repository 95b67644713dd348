#include "core/engine/segment_tracer.h"

#include <algorithm>
#include <utility>

namespace aee {
namespace {

// What tells the key from the known node that it resembles most.
TraceDifference difference_of(const TraceNode* nearest, const TraceKey& key, std::uint32_t step) {
  TraceDifference difference{.kind = TraceDifference::Kind::kBeyond, .step = step};
  if (nearest == nullptr) return difference;
  const auto compare = [&difference](auto known, auto found, TraceDifference::Kind kind) {
    const auto [a, b] = std::mismatch(known.begin(), known.end(), found.begin(), found.end());
    if (a == known.end() && b == found.end()) return false;
    difference.kind = kind;
    difference.index = static_cast<std::uint32_t>(a - known.begin());
    difference.known = a == known.end() ? 0 : *a;
    difference.found = b == found.end() ? 0 : *b;
    return true;
  };
  if (!compare(nearest->step(), key.step, TraceDifference::Kind::kWord)) {
    compare(nearest->slots(), key.slots, TraceDifference::Kind::kOperand);
  }
  return difference;
}

TraceNode* above(TraceNode* node, std::uint32_t steps) noexcept {
  while (steps-- > 0) node = node->parent;
  return node;
}

}  // namespace

SegmentTracer::SegmentTracer(const TracerLimits& limits)
    : trie_(limits.trie_bytes),
      policy_(limits.max_ops, limits.costs),
      cursor_(&trie_.root()),
      before_(policy_.history()) {
  due_.reserve(8);
}

void SegmentTracer::push(const TracedStep& step) {
  const Verdict verdict = follow(step);
  if (verdict == Verdict::kGoOn) [[likely]]
    return;
  if (verdict == Verdict::kRemembered) return end_here(CutReason::kRemembered);
  end_early(policy_.choose(steps(), before_.view()));
}

SegmentTracer::Verdict SegmentTracer::follow(const TracedStep& step) {
  const std::size_t count = step.operands.size();
  if (numbers_.size() < count) [[unlikely]]
    numbers_.resize(count);
  for (std::size_t i = 0; i < count; ++i) numbers_[i] = slots_.slot_of(step.operands[i]);
  const TraceKey key{step.key, step.hash, {numbers_.data(), count}, step.id};
  TraceNode* node = trie_.find(*cursor_, key);
  if (node == nullptr) [[unlikely]]
    node = &miss(key, step.cut_class);
  std::uint64_t* operands = operands_.extend(count);
  for (std::size_t i = 0; i < count; ++i) operands[i] = step.operands[i];
  cursor_ = last_ = node;
  if (++count_ == 1) [[unlikely]]
    begin(*node);
  if (policy_.remembered(node->cut_levels)) [[unlikely]]
    return Verdict::kRemembered;
  return policy_.full(count_) ? Verdict::kFull : Verdict::kGoOn;
}

TraceNode& SegmentTracer::miss(const TraceKey& key, std::uint8_t cut_class) {
  if (difference_.kind == TraceDifference::Kind::kNone) {
    difference_ = difference_of(trie_.nearest(*cursor_, key), key, count_);
  }
  return trie_.insert(*cursor_, key, cut_class);
}

void SegmentTracer::begin(TraceNode& first) {
  first_ = &first;
  if (TraceNode* end = last_end_.get()) end->successor = trie_.ref(first);
  if (policy_.after_wait()) {
    wait_first_ = &first;
    trie_.pin(first);
  }
  policy_.begin(first.site);
}

std::span<const CutStep> SegmentTracer::steps() {
  steps_.resize(count_);
  const TraceNode* node = cursor_;
  for (std::uint32_t i = count_; i-- > 0; node = node->parent) steps_[i] = {node->hash, node->cut_class};
  return steps_;
}

// The pending steps become a segment.
void SegmentTracer::end_here(CutReason reason) {
  TraceNode& end = *cursor_;
  SegmentCut cut{count_, reason, end.known, &end, {}};
  if (!cut.hit) {
    cut.difference = difference_;
    if (difference_.kind == TraceDifference::Kind::kNone || difference_.step >= count_) {
      cut.difference = {.kind = TraceDifference::Kind::kEnd, .step = count_};
    }
  }
  due_.push_back(cut);
  due_ops_ += count_;
  trie_.pin(end);
  trie_.touch(end);
  end.known = true;
  ++end.launches;
  last_end_ = trie_.ref(end);
  cut.hit ? policy_.hit(count_) : policy_.missed(steps(), before_.view());
  before_.add(end, count_);
  restart();
}

void SegmentTracer::restart() noexcept {
  TraceNode& root = trie_.root();
  if (TraceNode* end = last_end_.get()) {
    if (TraceNode* next = end->successor.get()) root.recent = next;
  }
  cursor_ = &root;
  first_ = nullptr;
  count_ = 0;
  operands_.clear();
  slots_.clear();
  difference_ = {};
}

// Note [Retroactive cuts]
// The leading `ops` pending steps become a segment, and the rest is followed again from the root, where its slots have
// other numbers. On its way it may meet remembered cuts or be full again. The nodes of the old path lend the keys, so
// they are pinned; what was recorded beyond the cut stays in the trie, as a path that no launch needs.
void SegmentTracer::end_early(std::uint32_t ops) {
  TraceNode& left = *cursor_;
  trie_.pin(left);
  replayed_.resize(count_);
  TraceNode* node = &left;
  for (std::size_t i = count_; i-- > 0; node = node->parent) replayed_[i].node = node;
  std::size_t place = 0;
  for (Replayed& step : replayed_) {
    step.operands = place;
    place += step.node->slot_count;
  }
  std::swap(replayed_operands_, operands_);
  operands_.clear();
  std::size_t next = count_;  // of the replayed steps: the first one that is not pending
  while (ops != 0) {
    next -= count_ - ops;
    if (ops < count_) trie_.touch(*cursor_);
    cursor_ = last_ = above(cursor_, count_ - ops);
    count_ = ops;
    cursor_->cut_levels |= policy_.level_bit();
    end_here(policy_.planned() ? CutReason::kPlanned : CutReason::kBudget);
    for (ops = 0; ops == 0 && next < replayed_.size();) ops = follow_again(replayed_[next++]);
  }
  trie_.unpin(left);
}

std::uint32_t SegmentTracer::follow_again(const Replayed& replayed) {
  const TraceNode& node = *replayed.node;
  const std::span operands = replayed_operands_.view().subspan(replayed.operands, node.slot_count);
  const Verdict verdict = follow({node.step(), node.hash, operands, node.cut_class});
  if (verdict == Verdict::kRemembered) end_here(CutReason::kRemembered);
  return verdict == Verdict::kFull ? policy_.choose(steps(), before_.view()) : 0;
}

void SegmentTracer::end_all(CutReason reason, bool waiting) {
  if (count_ > 0) end_here(reason);
  if (!waiting) return;
  policy_.waited();
  if (wait_first_ != nullptr) trie_.unpin(*wait_first_);
  wait_first_ = nullptr;
}

}  // namespace aee
