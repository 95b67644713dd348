// ResultMemory: where the results of one step get their memory. A small buffer that lived before offers its block to
// the kernel, see Note [Offered memory]; any other result is adopted with the memory that the kernel allocated.
// Lives on the stack of the thread that runs the step, around the kernel's call.
#pragma once

#include <ATen/core/Tensor.h>

#include "cache/layout_memo.h"
#include "core/runtime/buffer.h"
#include "lowering/aten/memory_offers.h"

namespace aee {

/// Memory for a fresh result of a kernel that writes where it is told: the buffer's own, or new. The buffer's content
/// is then the result, which lies as `spec` says at offset 0 and is not written yet.
[[nodiscard]] void* make_result(Buffer& buffer, const ResultSpec& spec);

class ResultMemory {
 public:
  /// Offers what the fresh buffers of a step have left over. They outlive this.
  ResultMemory(const LayoutEntry& layout, std::span<Buffer* const> fresh);
  /// Makes `result`, which lies as `spec` says, the content of a fresh buffer.
  void adopt(Buffer& buffer, const ResultSpec& spec, at::Tensor result);

 private:
  MemoryOffers offers_;
};

}  // namespace aee
