// Warnings that kernels raised on device threads, given to the language's warnings at sync points, oldest first.
// Called by every sync point of the bindings, on the thread that waits.
#pragma once

#include "lowering/aten/cpu_scope.h"

namespace aee {

/// How a language emits warnings; null: by the handler of the calling thread.
using EmitWarnings = void (*)(const std::vector<c10::Warning>& warnings);
void set_warning_emitter(EmitWarnings emit) noexcept;
/// Emits what was collected. May throw if the user made warnings errors.
void emit_collected_warnings();
inline void emit_warnings() {
  if (has_warnings()) [[unlikely]]
    emit_collected_warnings();
}

}  // namespace aee
