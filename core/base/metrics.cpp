#include "core/base/metrics.h"

namespace aee {

std::vector<std::pair<std::string_view, std::uint64_t>> Metrics::snapshot() const {
  std::vector<std::pair<std::string_view, std::uint64_t>> rows = {
#define AEE_METRIC(field, doc) {#field, field.value()},
#include "core/base/metrics.inc"
  };
  for (std::size_t i = 0; i < kCutReasonCount; ++i) rows.emplace_back(kCutReasons[i].counter, cuts[i].value());
  return rows;
}

void Metrics::reset() noexcept {
#define AEE_METRIC(field, doc) field.reset();
#include "core/base/metrics.inc"
  for (Counter& counter : cuts) counter.reset();
}

std::vector<std::pair<std::string_view, std::string_view>> metrics_table() {
  std::vector<std::pair<std::string_view, std::string_view>> rows = {
#define AEE_METRIC(field, doc) {#field, doc},
#include "core/base/metrics.inc"
  };
  for (const CutReasonInfo& reason : kCutReasons) rows.emplace_back(reason.counter, reason.doc);
  return rows;
}

}  // namespace aee
