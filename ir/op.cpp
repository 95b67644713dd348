#include "ir/op.h"

#include <unordered_map>

namespace aee {
namespace {

constexpr OpRow kRows[] = {
#define AEE_TYPED(symbol, name, traits) {"aten::" name, (traits) | kTyped},
#define AEE_BOXED(name, traits) {name, traits},
#include "ir/ops.inc"
};

constexpr std::size_t kRowCount = sizeof(kRows) / sizeof(kRows[0]);

consteval bool names_are_unique() {
  for (std::size_t i = 0; i < kRowCount; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (kRows[i].name == kRows[j].name) return false;
    }
  }
  return true;
}
static_assert(names_are_unique(), "an op has two rows in ops.inc");

}  // namespace

const OpRow* find_op_row(std::string_view schema_name) noexcept {
  static const auto* const index = [] {
    auto* map = new std::unordered_map<std::string_view, const OpRow*>;
    for (const OpRow& row : kRows) map->emplace(row.name, &row);
    return map;
  }();
  const auto found = index->find(schema_name);
  return found == index->end() ? nullptr : found->second;
}

OpRows op_rows() noexcept { return {kRows, kRowCount}; }

}  // namespace aee
