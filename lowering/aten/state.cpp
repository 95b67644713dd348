#include "lowering/aten/state.h"

#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/ops/tanh_ops.h>
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

// Note [First use of MKL]
// MKL's vector functions detect the CPU at the first call and publish a number in two stores: the raw one (9 for
// AVX-512), then the index of their tables (5). A thread that calls between the two takes a kernel of lower accuracy
// (mkl_vml_serv_cpu_detect, MKL 2024.2). So the first call must be over before two threads can make it.
void detect_cpu() {
  const at::Tensor one = at::detail::empty_cpu({1}, at::kFloat);
  *one.mutable_data_ptr<float>() = 0.5F;
  static_cast<void>(at::_ops::tanh::redispatch(c10::DispatchKeySet(c10::DispatchKey::CPU), one));
}

}  // namespace aee
