// SiteReport: what is known of one place in the program where segments end, for explain(). A plain value, made by the
// recorder that launched them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace aee {

struct SiteReport {
  std::string first;           ///< first op of the segment, with its source line where known
  std::string last;            ///< last op
  std::uint32_t ops = 0;       ///< ops of the segment
  std::uint64_t launches = 0;  ///< times launched
  std::uint64_t hits = 0;      ///< of these, times that the same steps had been launched before
  std::string_view cut;        ///< why it ended here, the last time: the name of the counter
  std::string difference;      ///< where it first left the known traces, the last time that it missed; empty if never
};

}  // namespace aee
