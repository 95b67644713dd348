// TraceStream: what recorders did, as a text that can be replayed offline: steps with their keys and operands, and the
// cuts that came from outside. No data. Written by dump_trace(), read by bench/replay and by tests.
//
//   adaptive-eager-trace 1
//   recorder R max_ops N host_us H device_us D launch_us L      before the first event of that recorder
//   step R class C traits T op NAME key K,... operands O,...    keys in hexadecimal; operands are numbers of buffers
//   cut R reason NAME waiting 0|1
//
// A writer may be used by many recorders at a time. Errors of the file are told when it is closed.
#pragma once

#include <cstdint>
#include <fstream>
#include <iosfwd>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/cut_reason.h"
#include "core/engine/segment_tracer.h"
#include "ir/op.h"

namespace aee {

class TraceWriter {
 public:
  /// Throws Error if the file cannot be written.
  explicit TraceWriter(std::string path);
  void step(const void* recorder, const TracerLimits& limits, const Op& op, const TracedStep& step);
  void cut(const void* recorder, const TracerLimits& limits, CutReason reason, bool waiting);
  /// Ends the file. Throws Error if something was not written.
  void close();

 private:
  std::size_t number_of(const void* recorder, const TracerLimits& limits);

  const std::string path_;
  std::mutex lock_;  // guards the rest
  std::ofstream out_;
  std::unordered_map<const void*, std::size_t> recorders_;
  std::unordered_map<std::uint64_t, std::size_t> buffers_;
};

/// One event of a stream.
struct TraceEvent {
  std::size_t recorder = 0;
  bool is_step = false;
  // Of a step:
  Op op;
  std::uint8_t cut_class = 0;
  std::vector<std::uint64_t> key, operands;
  // Of a cut:
  std::string reason;
  bool waiting = false;
};

struct TraceStream {
  std::vector<TracerLimits> recorders;  ///< by number
  std::vector<TraceEvent> events;
};

/// Reads a stream. Throws Error that names the line that cannot be read.
[[nodiscard]] TraceStream read_trace(std::istream& in);

}  // namespace aee
