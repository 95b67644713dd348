#include "bindings/torch/surface.h"

#include <algorithm>

#include "bindings/torch/default_engine.h"
#include "bindings/torch/source_line.h"
#include "bindings/torch/streams.h"
#include "bindings/torch/warnings.h"
#include "core/base/fork.h"
#include "lowering/aten/step_run.h"

namespace aee {

bool is_adaptive() { return is_adaptive(thread_context()); }

bool set_adaptive(bool enabled) {
  const bool before = is_adaptive();
  ThreadContext& thread = thread_context();
  thread.adaptive = enabled ? 1 : 0;
  if (before && !enabled) cut_thread(thread, CutReason::kMarkStep);
  return before;
}

void mark_step() { cut_thread(thread_context(), CutReason::kMarkStep); }

AdaptiveEagerGuard::~AdaptiveEagerGuard() {
  try {
    set_adaptive(before_);
  } catch (...) {  // the mode is set; what could not be launched still waits to be
  }
}

std::map<std::string, std::uint64_t> metrics() {
  std::map<std::string, std::uint64_t> counters;
  for (const auto& [name, count] : metric_rows()) counters.emplace(name, count);
  return counters;
}

void reset_metrics() {
  engine().collect_hits();
  engine().metrics().reset();
}

void set_memory_limit(std::uint64_t bytes, int index) {
  engine().device(checked_device(index)).pool().set_limit(bytes);
}

std::vector<Option> options() {
  std::vector<Option> rows;
  for (const ConfigRow& row : config_table(configuration())) {
    rows.push_back(
        {std::string(row.variable), std::string(row.type), row.text, row.default_text, std::string(row.doc)});
  }
  return rows;
}

void set_option(std::string_view variable, std::string_view value) { configure(variable, value); }

std::vector<std::pair<std::string_view, std::uint64_t>> metric_rows() {
  Engine& the_engine = engine();
  the_engine.collect_hits();
  auto values = the_engine.metrics().snapshot();
  const std::uint64_t recorded = the_engine.metrics().ops_recorded.value();
  const std::uint64_t executed = the_engine.metrics().ops_executed.value();
  values.emplace_back("ops_pending", recorded - std::min(recorded, executed));
  return values;
}

std::vector<SiteReport> site_reports() {
  std::vector<SiteReport> reports;
  for (int index = 0; index < engine().device_count(); ++index) {
    for (SiteReport& report : engine().device(index).explain()) reports.push_back(std::move(report));
  }
  return reports;
}

void dump_trace(const std::string& path) {
  translate_errors([&] { engine().dump_trace(path); });
}

void finish() noexcept { finish_work(); }

bool is_bad_fork() noexcept { return forked_child(); }

void set_language_hooks(const LanguageHooks& hooks) noexcept {
  set_wait_hooks(hooks.block, hooks.unblock);
  set_source_hook(hooks.current_source);
  set_source_describer(hooks.describe_source);
  set_warning_emitter(hooks.emit_warnings);
}

}  // namespace aee
