#include "lowering/aten/state.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <omp.h>
#include <xmmintrin.h>

// From MKL, which the wheel's libtorch exports: the thread-local thread count.
extern "C" int MKL_Set_Num_Threads_Local(int threads) __attribute__((weak));

namespace aee {
namespace {

constexpr std::uint32_t kExceptionFlags = 0x3f;

}  // namespace

ThreadState capture_thread_state() noexcept {
  return {at::get_num_threads(), _mm_getcsr() & ~kExceptionFlags, c10::GradMode::is_enabled() ? 1u : 0u, 0};
}

void apply_thread_state(const ThreadState& state) noexcept {
  if (at::get_num_threads() != state.threads) {
    // at::set_num_threads would change every thread's count; these two change this thread's only.
    omp_set_num_threads(state.threads);
    if (MKL_Set_Num_Threads_Local != nullptr) MKL_Set_Num_Threads_Local(state.threads);
  }
  if ((_mm_getcsr() & ~kExceptionFlags) != state.float_mode) _mm_setcsr(state.float_mode);
  if (c10::GradMode::is_enabled() != (state.grad_mode != 0)) c10::GradMode::set_enabled(state.grad_mode != 0);
}

std::uint64_t global_state_word(const ThreadState& state) noexcept {
  at::Context& context = at::globalContext();
  std::uint64_t word = static_cast<std::uint64_t>(c10::get_default_dtype_as_scalartype());
  const auto add = [&word](bool bit) { word = word << 1 | (bit ? 1 : 0); };
  add(context.deterministicAlgorithms());
  add(context.deterministicAlgorithmsWarnOnly());
  add(context.deterministicFillUninitializedMemory());
  add(context.userEnabledMkldnn());
  add(context.deterministicMkldnn());
  add(state.grad_mode != 0);
  return word << 32 ^ std::uint64_t{state.float_mode} << 8 ^ static_cast<std::uint64_t>(state.threads);
}

}  // namespace aee
