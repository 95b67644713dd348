// SignatureHistory: the signatures of the last steps that a recorder launched, in order, for contexts that reach beyond
// the start of a segment. Adding costs a store a step. One recorder's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cache/trace_node.h"

namespace aee {

class SignatureHistory {
 public:
  /// Keeps the last `size` of them; zeros stand before the first.
  explicit SignatureHistory(std::size_t size) : size_(size), end_(size), signatures_(4 * size) {}

  /// Adds the steps of a segment that ends at `end`.
  void add(const TraceNode& end, std::size_t steps) noexcept {
    const std::size_t fresh = std::min(steps, size_);
    if (end_ + fresh > signatures_.size()) {
      std::copy(signatures_.begin() + static_cast<std::ptrdiff_t>(end_ - size_),
                signatures_.begin() + static_cast<std::ptrdiff_t>(end_), signatures_.begin());
      end_ = size_;
    }
    end_ += fresh;
    const TraceNode* node = &end;
    for (std::size_t i = 1; i <= fresh; ++i, node = node->parent) signatures_[end_ - i] = node->hash;
  }
  /// The last `size`, oldest first.
  [[nodiscard]] std::span<const std::uint64_t> view() const noexcept {
    return {signatures_.data() + (end_ - size_), size_};
  }

 private:
  std::size_t size_, end_;
  std::vector<std::uint64_t> signatures_;
};

}  // namespace aee
