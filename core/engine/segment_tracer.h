// SegmentTracer: turns the stream of steps of one recorder into segments. It follows the stream through the trace trie,
// asks the cut policy where segments end, and says of each whether it was launched before.
//
// It holds no steps: the owner keeps what it needs to launch the pending ones, in order. The tracer keeps their nodes
// and operands, because a retroactive cut numbers the slots of the rest again.
//   add ─► slots by first touch ─► child of the cursor? ─► due: remembered cut, budget ─► segments to launch
// A buffer's identity must stay its own while a pending step names it. One thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cache/trace_trie.h"
#include "core/engine/cut_policy.h"
#include "core/engine/segment_cut.h"
#include "core/engine/signature_history.h"
#include "core/engine/slot_table.h"
#include "ir/step.h"

namespace aee {

struct TracedStep {
  std::span<const std::uint64_t> key;  ///< of its structure: slots numbered inside the step
  std::uint64_t hash;                  ///< of `key`
  /// Identity of the buffer of each slot of the step, in slot order, then of each fresh result.
  std::span<const std::uint64_t> operands;
  std::uint8_t cut_class;  ///< how good a cut after it is: 1 after a library call, 0 pointwise
  std::uint64_t id = 0;    ///< of `key`, see TraceKey
};

struct TracerLimits {
  std::uint32_t max_ops = 256;
  std::size_t trie_bytes = std::size_t{64} << 20;
  CutCosts costs{};
};

class SegmentTracer {
 public:
  explicit SegmentTracer(const TracerLimits& limits);

  /// Adds a step after those pending, then calls `launch(const SegmentCut&)` for every segment that is due, oldest
  /// first. If that throws, the segment is gone and the later ones are due at the next call.
  template <class Launch>
  void add(const TracedStep& step, Launch&& launch) {
    push(step);
    if (!due_.empty()) deliver(launch);
  }
  /// Ends everything pending. `waiting`: the host will wait for it.
  template <class Launch>
  void cut(CutReason reason, bool waiting, Launch&& launch) {
    end_all(reason, waiting);
    if (!due_.empty()) deliver(launch);
  }

  /// Steps added and not launched.
  [[nodiscard]] std::size_t pending() const noexcept { return count_ + due_ops_; }
  /// The node of the step added last. Valid until the next add() or cut().
  [[nodiscard]] TraceNode* last() const noexcept { return last_; }
  [[nodiscard]] TraceTrie& trie() noexcept { return trie_; }

 private:
  enum class Verdict : std::uint8_t { kGoOn, kRemembered, kFull };
  struct Replayed {
    TraceNode* node;
    std::size_t operands;  ///< place in replayed_operands_
  };

  void push(const TracedStep& step);
  void end_all(CutReason reason, bool waiting);
  Verdict follow(const TracedStep& step);
  [[nodiscard]] TraceNode& miss(const TraceKey& key, std::uint8_t cut_class);
  void begin(TraceNode& first);
  [[nodiscard]] std::span<const CutStep> steps();
  void end_here(CutReason reason);
  void end_early(std::uint32_t ops);
  [[nodiscard]] std::uint32_t follow_again(const Replayed& replayed);
  void restart() noexcept;

  template <class Launch>
  void deliver(Launch& launch) {
    while (!due_.empty()) {
      const SegmentCut cut = due_.front();
      due_.erase(due_.begin());  // nearly always the only one
      due_ops_ -= cut.ops;
      trie_.unpin(*cut.end);
      launch(cut);
    }
  }

  TraceTrie trie_;
  CutPolicy policy_;
  TraceNode* cursor_;           // node of the last pending step, or the root
  TraceNode* first_ = nullptr;  // node of the first pending step
  TraceNode* last_ = nullptr;
  TraceNode* wait_first_ = nullptr;  // first node after the last wait, pinned
  NodeRef last_end_;                 // of the segment before the pending one
  std::uint32_t count_ = 0;          // steps after the last cut
  std::uint32_t due_ops_ = 0;        // steps of the segments that are due
  SlotTable slots_;
  std::vector<std::uint32_t> numbers_;  // slots of the step being added
  WordArray operands_;                  // of the pending steps
  TraceDifference difference_;          // of the pending segment
  std::vector<SegmentCut> due_;
  SignatureHistory before_;     // the steps before the pending segment
  std::vector<CutStep> steps_;  // of the pending segment, when the policy asks
  // Of the retroactive cut in progress: the steps to follow again.
  std::vector<Replayed> replayed_;
  WordArray replayed_operands_;
};

}  // namespace aee
