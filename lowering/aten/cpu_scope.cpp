#include "lowering/aten/cpu_scope.h"

#include <atomic>
#include <mutex>
#include <new>

#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "core/base/error.h"
#include "core/runtime/device.h"
#include "lowering/aten/memory_offers.h"

namespace aee {
namespace {

thread_local bool in_scope = false;

std::atomic<bool> warnings_pending{false};
std::mutex warnings_mutex;  // guards warnings
std::vector<c10::Warning>& warnings() {
  static auto* const list = new std::vector<c10::Warning>;
  return *list;
}

class Collector final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    constexpr std::size_t kMost = 1024;  // a loop that warns must not grow without bound
    const std::lock_guard guard(warnings_mutex);
    if (warnings().size() < kMost) warnings().push_back(warning);
    warnings_pending.store(true, std::memory_order_release);
  }
};

Collector& collector() {
  static auto* const handler = new Collector;
  return *handler;
}

// Note [Memory of results]
// Kernels allocate their results with the CPU allocator. Inside a scope that is the device's arena: results are
// adopted by buffers without a copy, whether or not an op has an out-variant, and no result touches fresh pages.
// Any thread may free such a block; a raw pointer tells by its address which allocator it came from.
Device* scope_memory = nullptr;            // set once, before the first scope
c10::Allocator* host_allocator = nullptr;  // likewise

void free_block(void* data) noexcept { scope_memory->free(data); }

// Note [Offered memory]
// A small buffer keeps its block from life to life. The step that makes it offers the block: the kernel's first
// allocation of just that size gets it, which is nearly always the result. Who takes an offer owns the block like any
// other allocation; if it is the result, the buffer gets it back with the result.
constinit thread_local MemoryOffers* offers = nullptr;

c10::DataPtr take_offer(std::size_t bytes) {
  for (const MemoryOffers::Offer& offer : offers->view()) {
    if (offer.bytes == bytes && offer.storage->data() != nullptr) return offer.storage->set_data_ptr({});
  }
  return {};
}

void free_any(void* data) noexcept {
  if (scope_memory->owns(data)) {
    scope_memory->free(data);
  } else {
    host_allocator->raw_deleter()(data);
  }
}

// PyTorch's error, and not ours: it passes through kernels up to the user, at the call or at the next sync point.
void* allocate_block(std::size_t bytes) {
  try {
    return scope_memory->allocate(bytes);
  } catch (const Error& error) {
    TORCH_CHECK_WITH(OutOfMemoryError, false, error.what());
  }
}

class ScopeAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (!in_scope) return host_allocator->allocate(bytes);
    if (offers != nullptr) {
      if (c10::DataPtr offered = take_offer(bytes)) return offered;
    }
    void* data = allocate_block(bytes);
    return {data, data, &free_block, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_any; }
  void copy_data(void* to, const void* from, std::size_t count) const override { default_copy_data(to, from, count); }
};

}  // namespace

struct CpuScope::Saved {
  c10::impl::LocalDispatchKeySet keys;
  at::RecordFunctionTLS record;
  c10::WarningHandler* handler;
  bool in_scope;
  bool grad_mode;
};

CpuScope::CpuScope(Warnings warnings) noexcept {
  static_assert(sizeof(Saved) <= sizeof(saved_));
  auto* saved =
      new (saved_) Saved{c10::impl::tls_local_dispatch_key_set(), {}, nullptr, in_scope, c10::GradMode::is_enabled()};
  saved->record.tls_record_function_enabled_ = at::isRecordFunctionEnabled();
  saved->handler = c10::WarningUtils::get_warning_handler();
  const c10::DispatchKeySet excluded =
      c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset | c10::default_excluded_set;
  c10::impl::PODLocalDispatchKeySet keys{};
  keys.set_included(c10::default_included_set);
  keys.set_excluded(excluded);
  c10::impl::_force_tls_local_dispatch_key_set(keys);
  at::enableRecordFunction(false);
  if (warnings == Warnings::kCollect) c10::WarningUtils::set_warning_handler(&collector());
  in_scope = true;
}

CpuScope::~CpuScope() {
  auto* saved = std::launder(reinterpret_cast<Saved*>(saved_));
  in_scope = saved->in_scope;
  c10::WarningUtils::set_warning_handler(saved->handler);
  at::enableRecordFunction(saved->record.tls_record_function_enabled_);
  c10::impl::_force_tls_local_dispatch_key_set(saved->keys);
  if (c10::GradMode::is_enabled() != saved->grad_mode) c10::GradMode::set_enabled(saved->grad_mode);
  saved->~Saved();
}

MemoryOffers::MemoryOffers() noexcept : outer_(offers) { offers = this; }

MemoryOffers::~MemoryOffers() { offers = outer_; }

bool is_scope_memory(const c10::StorageImpl& storage) noexcept {
  return storage.data_ptr().get_deleter() == &free_block;
}

std::vector<c10::Warning> take_warnings() {
  const std::lock_guard guard(warnings_mutex);
  warnings_pending.store(false, std::memory_order_release);
  return std::exchange(warnings(), {});
}

bool has_warnings() noexcept { return warnings_pending.load(std::memory_order_acquire); }

void install_scope_allocator(Device& device) {
  scope_memory = &device;
  host_allocator = c10::GetAllocator(c10::DeviceType::CPU);
  c10::SetAllocator(c10::DeviceType::CPU, new ScopeAllocator, /*priority=*/255);
}

}  // namespace aee
