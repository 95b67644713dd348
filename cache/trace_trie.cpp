#include "cache/trace_trie.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace aee {
namespace {

// Children are compared one by one up to four, and found by hash above.
constexpr std::uint32_t kFewChildren = 4;
// Header and rounding of one block of the heap.
constexpr std::size_t kBlockBytes = 16;

std::uint64_t place_of(std::uint64_t hash, std::span<const std::uint32_t> slots) noexcept {
  for (const std::uint32_t slot : slots) hash = (hash ^ slot) * 0x9E3779B97F4A7C15u;
  return table_hash(hash ^ hash >> 32);
}

TraceNode*& bucket(TraceNode& parent, std::uint64_t hash, std::span<const std::uint32_t> slots) noexcept {
  if (parent.bucket_count == 0) return parent.first_child;
  return parent.buckets[place_of(hash, slots) & (parent.bucket_count - 1)];
}

std::size_t key_bytes(std::size_t key_words, std::size_t slots) noexcept {
  return key_words * sizeof(std::uint64_t) + slots * sizeof(std::uint32_t);
}

std::size_t node_bytes(std::size_t key_words, std::size_t slots) noexcept {
  return sizeof(TraceNode) + key_bytes(key_words, slots) + kBlockBytes;
}

std::size_t bucket_bytes(std::uint32_t count) noexcept {
  return count == 0 ? 0 : count * sizeof(TraceNode*) + kBlockBytes;
}

// Number of leading words that two keys share: of the step, then of the slots.
std::size_t common(const TraceNode& node, const TraceKey& key) noexcept {
  const auto shared = [](auto a, auto b) {
    return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  };
  const std::size_t words = shared(node.step(), key.step);
  if (words < key.step.size() || words < node.key_words) return words;
  return words + shared(node.slots(), key.slots);
}

}  // namespace

TraceTrie::TraceTrie(std::size_t budget) : budget_(budget) { root_.serial = ++serials_; }

TraceTrie::~TraceTrie() {
  if (forget_ == nullptr) return;
  for (const auto& chunk : chunks_) {
    for (std::size_t i = 0; i < kChunk; ++i) {
      if (chunk[i].serial != 0) forget_(context_, chunk[i]);
    }
  }
}

void TraceTrie::on_forget(void* context, Forget forget) noexcept {
  context_ = context;
  forget_ = forget;
}

TraceNode* TraceTrie::find_sibling(TraceNode& parent, const TraceKey& key) const noexcept {
  for (TraceNode* child = bucket(parent, key.hash, key.slots); child != nullptr; child = child->next_sibling) {
    if (child->matches(key)) {
      parent.recent = child;
      return child;
    }
  }
  return nullptr;
}

const TraceNode* TraceTrie::nearest(const TraceNode& parent, const TraceKey& key) const noexcept {
  const TraceNode* best = parent.recent;
  std::size_t best_words = best != nullptr ? common(*best, key) : 0;
  // A few are enough for an explanation; with buckets, those where the key itself would be.
  const TraceNode* child = bucket(const_cast<TraceNode&>(parent), key.hash, key.slots);
  for (int left = 16; child != nullptr && left > 0; child = child->next_sibling, --left) {
    const std::size_t words = common(*child, key);
    if (best != nullptr && words <= best_words) continue;
    best = child;
    best_words = words;
  }
  return best;
}

TraceNode& TraceTrie::insert(TraceNode& parent, const TraceKey& key, std::uint8_t cut_class) {
  const std::size_t bytes = node_bytes(key.step.size(), key.slots.size());
  pin(parent);
  while (bytes_ + bytes > budget_ && forget_oldest()) {
  }
  unpin(parent);
  auto place = std::make_unique_for_overwrite<std::byte[]>(key_bytes(key.step.size(), key.slots.size()));
  std::memcpy(place.get(), key.step.data(), key.step.size_bytes());
  if (!key.slots.empty()) std::memcpy(place.get() + key.step.size_bytes(), key.slots.data(), key.slots.size_bytes());
  if (parent.child_count >= std::max(kFewChildren, parent.bucket_count)) {
    spread(parent, std::max(4 * kFewChildren, 2 * parent.bucket_count));
  }
  TraceNode& node = take();
  node.hash = key.hash;
  node.key = std::move(place);
  node.key_words = static_cast<std::uint32_t>(key.step.size());
  node.slot_count = static_cast<std::uint32_t>(key.slots.size());
  node.cut_class = cut_class;
  node.depth = parent.depth + 1;
  bytes_ += bytes;
  ++size_;
  adopt(parent, node);
  return node;
}

// A node from the free list, as if new but for its serial.
TraceNode& TraceTrie::take() {
  if (free_ == nullptr) {
    chunks_.push_back(std::make_unique<TraceNode[]>(kChunk));
    for (std::size_t i = kChunk; i-- > 0;) {
      chunks_.back()[i].next_sibling = free_;
      free_ = &chunks_.back()[i];
    }
  }
  TraceNode& node = *free_;
  free_ = node.next_sibling;
  node.serial = ++serials_;
  return node;
}

void TraceTrie::adopt(TraceNode& parent, TraceNode& child) {
  TraceNode*& head = bucket(parent, child.hash, child.slots());
  child.parent = &parent;
  child.next_sibling = head;
  head = &child;
  parent.recent = &child;
  ++parent.child_count;
}

void TraceTrie::abandon(TraceNode& parent, TraceNode& child) noexcept {
  TraceNode** link = &bucket(parent, child.hash, child.slots());
  while (*link != &child) link = &(*link)->next_sibling;
  *link = child.next_sibling;
  if (parent.recent == &child) parent.recent = nullptr;
  --parent.child_count;
}

void TraceTrie::spread(TraceNode& parent, std::uint32_t bucket_count) {
  auto fresh = std::make_unique<TraceNode*[]>(bucket_count);
  bytes_ += bucket_bytes(bucket_count) - bucket_bytes(parent.bucket_count);
  auto old = std::move(parent.buckets);
  const std::uint32_t old_count = std::max(1u, parent.bucket_count);
  TraceNode** heads = parent.bucket_count == 0 ? &parent.first_child : old.get();
  parent.buckets = std::move(fresh);
  parent.bucket_count = bucket_count;
  for (std::uint32_t i = 0; i < old_count; ++i) {
    for (TraceNode* child = std::exchange(heads[i], nullptr); child != nullptr;) {
      TraceNode* next = child->next_sibling;
      TraceNode*& head = bucket(parent, child->hash, child->slots());
      child->next_sibling = head;
      head = child;
      child = next;
    }
  }
}

void TraceTrie::touch(TraceNode& node) noexcept {
  if (&node == youngest_) return;
  if (ordered(node)) unlink(node);
  node.older = youngest_;
  (youngest_ != nullptr ? youngest_->newer : oldest_) = &node;
  youngest_ = &node;
  ++ordered_;
}

void TraceTrie::unlink(TraceNode& node) noexcept {
  (node.older != nullptr ? node.older->newer : oldest_) = node.newer;
  (node.newer != nullptr ? node.newer->older : youngest_) = node.older;
  node.older = node.newer = nullptr;
  --ordered_;
}

void TraceTrie::charge(TraceNode& node, std::size_t bytes) noexcept {
  bytes_ += bytes - node.charged;
  node.charged = bytes;
}

// Note [Order of forgetting]
// The order holds the ends of launches, oldest first. An end that still has children when its turn comes leaves the
// order: from then on it is older than all that are in it, so it goes with its last child. A node that never ended a
// launch is not in the order either and goes the same way. So a whole branch goes leaf by leaf, and every step costs
// the same however large the trie is.
bool TraceTrie::forget_oldest() noexcept {
  for (std::size_t left = ordered_; left > 0; --left) {
    TraceNode* node = oldest_;
    if (node->pins > 0) {
      touch(*node);
      continue;
    }
    unlink(*node);
    if (node->child_count > 0) continue;
    while (node != &root_ && node->child_count == 0 && node->pins == 0 && !ordered(*node)) {
      TraceNode* parent = node->parent;
      forget(*node);
      node = parent;
    }
    if (node != &root_ && node->child_count == 0 && !ordered(*node)) touch(*node);  // pinned: its turn comes again
    return true;
  }
  return false;
}

void TraceTrie::forget(TraceNode& node) noexcept {
  if (forget_ != nullptr) forget_(context_, node);
  abandon(*node.parent, node);
  bytes_ -= node_bytes(node.key_words, node.slot_count) + bucket_bytes(node.bucket_count) + node.charged;
  --size_;
  ++forgotten_;
  node = TraceNode{};
  node.next_sibling = free_;
  free_ = &node;
}

}  // namespace aee
