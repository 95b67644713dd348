// TraceNode: a step in the trace trie, with what its owner, the cut policy and the trie itself keep there.
//
// The trie makes and forgets nodes; their addresses are stable, and the memory stays readable as long as the trie
// lives, so that a NodeRef can tell that its node is gone. Threads: one recorder's, at one time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/base/equal_hashes.h"

namespace aee {

/// What identifies a step inside a segment. Two steps are equal if both parts are.
struct TraceKey {
  std::span<const std::uint64_t> step;   ///< the step's own key, at least one word
  std::uint64_t hash;                    ///< of `step`
  std::span<const std::uint32_t> slots;  ///< of its operands in the segment, by first touch
  std::uint64_t id = 0;                  ///< not 0: keys with equal ids are equal, and need not be compared
};

/// What the cut policy remembers of segments that begin with a step. See core/engine/cut_policy.h.
struct CutSite {
  std::uint32_t levels = 0;      ///< bit l: a segment of level l from here was launched before
  std::uint8_t lowered = 0;      ///< levels that its ceiling lies under the top one
  std::uint8_t misses = 0;       ///< bit i: the launch i before the last one missed
  std::uint8_t hits_in_row = 0;  ///< since the last miss or change of the ceiling
  std::uint32_t wait_ops = 0;    ///< ops between the last two waits around it, 0: unknown
  std::uint32_t wait_parts = 0;  ///< segments to make of them, 0: as they come
};

struct TraceNode;

/// A reference that knows when its node was forgotten. Reading it is safe as long as the trie lives.
struct NodeRef {
  TraceNode* node = nullptr;
  std::uint64_t serial = 0;
  [[nodiscard]] inline TraceNode* get() const noexcept;
};

struct TraceNode {
  // Read for every step.
  std::uint64_t id = 0;              ///< of the step key, as it came last
  std::uint64_t hash = 0;            ///< of the step key
  std::unique_ptr<std::byte[]> key;  ///< words of the step key, then the slots
  std::uint32_t key_words = 0;
  std::uint32_t slot_count = 0;
  TraceNode* recent = nullptr;   ///< the child taken last
  std::uint32_t cut_levels = 0;  ///< bit l: segments of level l end here
  std::uint32_t depth = 0;       ///< steps from the root
  std::uint8_t cut_class = 0;    ///< how good a cut after it is
  bool known = false;            ///< a segment that ends here was launched before
  std::uint32_t pins = 0;

  // The owner's; the trie only tells when the node goes.
  void* program = nullptr;
  std::uint32_t launches = 0;  ///< segments that ended here
  CutSite site;
  NodeRef successor;  ///< the first node of the segment that followed one ending here

  // The trie's.
  TraceNode* parent = nullptr;
  TraceNode* next_sibling = nullptr;  ///< in its bucket of the parent
  TraceNode* first_child = nullptr;   ///< all children, while there are few
  std::unique_ptr<TraceNode*[]> buckets;
  std::uint32_t bucket_count = 0;  ///< a power of two, 0: first_child is the only bucket
  std::uint32_t child_count = 0;
  TraceNode *older = nullptr, *newer = nullptr;  ///< order of launches; null and not oldest: not in the order
  std::uint64_t serial = 0;                      ///< of this use of the memory; 0: free
  std::size_t charged = 0;                       ///< bytes that the owner keeps for it

  [[nodiscard]] std::span<const std::uint64_t> step() const noexcept { return {step_words(), key_words}; }
  [[nodiscard]] std::span<const std::uint32_t> slots() const noexcept {
    return {reinterpret_cast<const std::uint32_t*>(step_words() + key_words), slot_count};
  }
  /// Whether the step key is this node's, whatever the slots.
  [[nodiscard]] bool same_step(std::span<const std::uint64_t> words, std::uint64_t words_hash) const noexcept {
    return table_hash(hash) == table_hash(words_hash) && key_words == words.size() &&
           equal(step_words(), words.data(), words.size());
  }
  [[nodiscard]] bool matches(const TraceKey& other) const noexcept {
    return slot_count == other.slots.size() && equal(slots().data(), other.slots.data(), other.slots.size()) &&
           ((id != 0 && id == other.id) || same_step(other.step, other.hash));
  }

 private:
  [[nodiscard]] const std::uint64_t* step_words() const noexcept {
    return reinterpret_cast<const std::uint64_t*>(key.get());
  }
  /// Short keys: a loop beats a call of memcmp.
  template <class T>
  static bool equal(const T* a, const T* b, std::size_t count) noexcept {
    T difference = 0;
    for (std::size_t i = 0; i < count; ++i) difference |= a[i] ^ b[i];
    return difference == 0;
  }
};

inline TraceNode* NodeRef::get() const noexcept { return node != nullptr && node->serial == serial ? node : nullptr; }

}  // namespace aee
