// TraceTrie: all sequences of step structures that a recorder has seen, one path from the root each. A node is a step;
// a segment is a path from the root to its end node.
//
// What it is not: it knows nothing of layouts, programs or costs. Owners hang those on a node (`layouts`, `program`)
// and free them when the trie forgets it. Keys are compared in full; a hash only filters and locates. Bounded in bytes:
// insert() forgets the least recently launched leaves first, and with a leaf every node above it that no later launch
// has used. Pinned nodes stay, and so does every node above them. Threads: one recorder's, at one time. Nodes have
// stable addresses; see NodeRef for a reference that may outlive one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace aee {

/// What identifies a step inside a segment. Two steps are equal if both parts are.
struct TraceKey {
  std::span<const std::uint64_t> step;   ///< the step's own key, at least one word
  std::uint64_t hash;                    ///< of `step`
  std::span<const std::uint32_t> slots;  ///< of its operands in the segment, by first touch
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
  void* layouts = nullptr;
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
    return same_hash(hash, words_hash) && key_words == words.size() && equal(step_words(), words.data(), words.size());
  }
  [[nodiscard]] bool matches(const TraceKey& other) const noexcept {
    return same_step(other.step, other.hash) && slot_count == other.slots.size() &&
           equal(slots().data(), other.slots.data(), other.slots.size());
  }

  /// A build with AEE_EQUAL_HASHES proves that nothing is ever found by its hash alone.
  static constexpr bool same_hash(std::uint64_t a, std::uint64_t b) noexcept {
#ifdef AEE_EQUAL_HASHES
    a = b;
#endif
    return a == b;
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

class TraceTrie {
 public:
  /// Called for a node that is about to be forgotten.
  using Forget = void (*)(void* context, TraceNode& node) noexcept;

  /// `budget`: most bytes for nodes, keys and what owners charge; only pinned paths may exceed it.
  explicit TraceTrie(std::size_t budget);
  ~TraceTrie();
  TraceTrie(const TraceTrie&) = delete;
  TraceTrie& operator=(const TraceTrie&) = delete;

  void on_forget(void* context, Forget forget) noexcept;

  [[nodiscard]] TraceNode& root() noexcept { return root_; }
  /// The child with this key, or null. Tries the child taken last first and remembers the one found.
  [[nodiscard]] TraceNode* find(TraceNode& parent, const TraceKey& key) const noexcept {
    TraceNode* recent = parent.recent;
    if (recent != nullptr && recent->matches(key)) [[likely]]
      return recent;
    return find_sibling(parent, key);
  }
  /// Adds a child that is not there yet. May forget any node that is neither pinned nor above `parent`.
  TraceNode& insert(TraceNode& parent, const TraceKey& key, std::uint8_t cut_class);
  /// The child that shares the longest beginning of its key with `key` (among a few), or null.
  [[nodiscard]] const TraceNode* nearest(const TraceNode& parent, const TraceKey& key) const noexcept;

  /// The node ended a launch, or a path that was left: from now on it is the youngest.
  void touch(TraceNode& node) noexcept;
  void pin(TraceNode& node) noexcept { ++node.pins; }
  void unpin(TraceNode& node) noexcept { --node.pins; }
  /// What the owner keeps for the node, in bytes, counts against the budget.
  void charge(TraceNode& node, std::size_t bytes) noexcept;
  [[nodiscard]] NodeRef ref(TraceNode& node) const noexcept { return {&node, node.serial}; }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t budget() const noexcept { return budget_; }
  [[nodiscard]] std::uint64_t forgotten() const noexcept { return forgotten_; }

 private:
  [[nodiscard]] TraceNode* find_sibling(TraceNode& parent, const TraceKey& key) const noexcept;
  TraceNode& take();
  void adopt(TraceNode& parent, TraceNode& child);
  void abandon(TraceNode& parent, TraceNode& child) noexcept;
  void spread(TraceNode& parent, std::uint32_t bucket_count);
  bool forget_oldest() noexcept;
  void forget(TraceNode& node) noexcept;
  [[nodiscard]] bool ordered(const TraceNode& node) const noexcept { return node.older != nullptr || oldest_ == &node; }
  void unlink(TraceNode& node) noexcept;

  static constexpr std::size_t kChunk = 256;
  std::size_t budget_;
  std::size_t bytes_ = 0, size_ = 0, ordered_ = 0;
  std::uint64_t serials_ = 0, forgotten_ = 0;
  TraceNode root_;
  TraceNode *oldest_ = nullptr, *youngest_ = nullptr, *free_ = nullptr;
  std::vector<std::unique_ptr<TraceNode[]>> chunks_;
  void* context_ = nullptr;
  Forget forget_ = nullptr;
};

}  // namespace aee
