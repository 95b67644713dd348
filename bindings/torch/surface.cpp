#include "bindings/torch/surface.h"

#include <algorithm>

#include "bindings/torch/default_engine.h"
#include "bindings/torch/generator.h"
#include "bindings/torch/source_line.h"
#include "bindings/torch/streams.h"
#include "bindings/torch/warnings.h"
#include "core/base/fork.h"
#include "lowering/aten/step_run.h"

namespace aee {
std::vector<std::pair<std::string_view, std::uint64_t>> metrics() {
  Engine& the_engine = engine();
  the_engine.collect_hits();
  auto values = the_engine.metrics().snapshot();
  const std::uint64_t recorded = the_engine.metrics().ops_recorded.value();
  const std::uint64_t executed = the_engine.metrics().ops_executed.value();
  values.emplace_back("ops_pending", recorded - std::min(recorded, executed));
  return values;
}

void reset_metrics() {
  engine().collect_hits();
  engine().metrics().reset();
}

bool set_adaptive(bool enabled) {
  const bool before = is_adaptive();
  ThreadContext& thread = thread_context();
  if (before && !enabled) cut_thread(thread, CutReason::kMarkStep);
  thread.adaptive = enabled ? 1 : 0;
  return before;
}

bool is_adaptive() { return is_adaptive(thread_context()); }

void mark_step() { cut_thread(thread_context(), CutReason::kMarkStep); }

std::vector<SiteReport> explain() {
  std::vector<SiteReport> reports;
  for (int index = 0; index < engine().device_count(); ++index) {
    for (SiteReport& report : engine().device(index).explain()) reports.push_back(std::move(report));
  }
  return reports;
}

int count_devices() noexcept { return device_count(); }

int current_device_index() { return thread_context().device; }

void set_device_index(int index) { set_current_device(static_cast<c10::DeviceIndex>(index)); }

void synchronize(int device) { synchronize_device(static_cast<c10::DeviceIndex>(device)); }

void finish() noexcept { finish_work(); }

void set_memory_limit(std::uint64_t bytes, int device) {
  TORCH_CHECK(device >= 0 && device < engine().device_count(), "neuron: no device with index ", device);
  engine().device(device).pool().set_limit(bytes);
}

const at::Generator& default_device_generator(int device) { return default_generator(device); }

bool is_bad_fork() noexcept { return forked_child(); }

std::vector<ConfigText> config_text() {
  std::vector<ConfigText> rows;
  for (const ConfigRow& row : config_table()) {
    rows.push_back({std::string(row.variable), std::string(row.type), row.default_text, std::string(row.doc)});
  }
  return rows;
}

void set_language_hooks(const LanguageHooks& hooks) noexcept {
  set_wait_hooks(hooks.block, hooks.unblock);
  set_source_hook(hooks.current_source);
  set_source_describer(hooks.describe_source);
  set_warning_emitter(hooks.emit_warnings);
}

}  // namespace aee
