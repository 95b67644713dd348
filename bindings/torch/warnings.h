// Warnings that kernels raised on device threads, given to the caller's handler (Python's warnings) at sync points.
#pragma once

#include "lowering/aten/cpu_scope.h"

namespace aee {

/// Re-emits what was collected. The handler may raise.
inline void emit_warnings() {
  if (!has_warnings()) [[likely]] return;
  for (const c10::Warning& warning : take_warnings()) c10::warn(warning);
}

}  // namespace aee
