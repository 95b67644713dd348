#include "bindings/torch/warnings.h"

#include <atomic>

namespace aee {
namespace {

std::atomic<EmitWarnings> emitter{nullptr};

}  // namespace

void set_warning_emitter(EmitWarnings emit) noexcept { emitter.store(emit, std::memory_order_release); }

void emit_collected_warnings() {
  const std::vector<c10::Warning> warnings = take_warnings();
  if (const EmitWarnings emit = emitter.load(std::memory_order_acquire)) {
    emit(warnings);
    return;
  }
  for (const c10::Warning& warning : warnings) c10::warn(warning);
}

}  // namespace aee
