// TraceTrie: all sequences of step structures that a recorder has seen, one path from the root each. A node is a step;
// a segment is a path from the root to its end node.
//
// What it is not: it knows nothing of layouts, programs or costs. Owners hang those on a node (`program`)
// and free them when the trie forgets it. Keys are compared in full; a hash only filters and locates.
//
// Bounded in bytes: insert() forgets the least recently launched leaves first, and with a leaf every node above it that
// no later launch has used. Pinned nodes stay, and so does every node above them.
// Threads: one recorder's, at one time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/trace_node.h"

namespace aee {

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
    if (recent != nullptr && recent->matches(key)) [[likely]] {
      recent->id = key.id;
      return recent;
    }
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
