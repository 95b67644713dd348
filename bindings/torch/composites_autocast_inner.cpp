// Operators that have no autocast policy, but whose CPU kernels call operators that have one, and so compute in the
// lower type under autocast. A device thread knows nothing of the caller's autocast: these run at the call.
#include <ATen/autocast_mode.h>
#include <c10/util/ScopeExit.h>
#include <torch/library.h>

#include "bindings/torch/composites_host.h"

namespace aee {
namespace {

void run_under_host_autocast(const c10::OperatorHandle& handle, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard below(c10::DispatchKey::AutocastPrivateUse1);
  const bool enabled = at::autocast::is_autocast_enabled(at::kCPU);
  const at::ScalarType dtype = at::autocast::get_autocast_dtype(at::kCPU);
  const auto restore = c10::make_scope_exit([&] {
    at::autocast::set_autocast_dtype(at::kCPU, dtype);
    at::autocast::set_autocast_enabled(at::kCPU, enabled);
  });
  at::autocast::set_autocast_dtype(at::kCPU, at::autocast::get_autocast_dtype(at::kPrivateUse1));
  at::autocast::set_autocast_enabled(at::kCPU, true);
  run_on_host(handle, stack);
}

}  // namespace
}  // namespace aee

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, library) {
  for (const char* name : {"_transformer_encoder_layer_fwd", "_scaled_mm", "_scaled_mm_v2"}) {
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&aee::run_under_host_autocast>());
  }
}
