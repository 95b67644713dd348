// SiteReport: what is known of one place in the program where segments end, for explain(). A plain value, made by the
// recorder that launched them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace aee {

struct SiteReport {
  std::string first;            ///< first op of the segment, with its source line where known
  std::string last;             ///< last op
  std::uint32_t ops = 0;        ///< ops of the segment
  std::uint64_t launches = 0;   ///< times launched
  std::uint64_t hits = 0;       ///< of these, times that the same steps had been launched before
  std::string_view cut;         ///< why it ended here, the last time: the name of the counter
  std::uint32_t live_outs = 0;  ///< buffers that it made and that somebody held when it was launched first
  std::uint64_t bytes = 0;      ///< of all buffers that it names
  double recording_us = 0;      ///< what an op of it costs the host, from call to return: mean of samples; 0: none
  double device_us = 0;         ///< what a launch of it costs the device: mean of samples; 0: none
  std::uint32_t tier = 0;       ///< how its steps run: 0 by kernels of ATen
  std::string difference;       ///< where it first left the known traces, the last time that it missed; empty if never
};

}  // namespace aee
