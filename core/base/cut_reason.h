// CutReason: why a segment ended. Names, counters and documentation come from cut_reason.inc.
//
// The engine's cut policy gives one with every cut; Metrics counts them. Plain values, no threads, nothing owned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace aee {

/// One enumerator per row of cut_reason.inc.
enum class CutReason : std::uint8_t {
#define AEE_CUT_REASON(name, counter, doc) name,
#include "core/base/cut_reason.inc"
};

inline constexpr std::size_t kCutReasonCount = 0
#define AEE_CUT_REASON(name, counter, doc) +1
#include "core/base/cut_reason.inc"
    ;

/// What the documentation says of one reason.
struct CutReasonInfo {
  std::string_view counter;
  std::string_view doc;
};

inline constexpr CutReasonInfo kCutReasons[] = {
#define AEE_CUT_REASON(name, counter, doc) {counter, doc},
#include "core/base/cut_reason.inc"
};

/// The row of a reason.
[[nodiscard]] constexpr const CutReasonInfo& info(CutReason reason) noexcept {
  return kCutReasons[static_cast<std::size_t>(reason)];
}

}  // namespace aee
