// What the engine counts, and its account of itself. Reading changes nothing: no work is launched, nobody waits;
// counters of work on its way lag behind, and are exact after synchronize(). The counters are of the whole process.
// Any thread; the caller owns what is returned. Both start the device and throw c10::Error if it cannot start.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <adaptive_eager/export.h>

namespace aee {

/// All counters by name since the start or the last reset; docs/metrics.md says what each one counts.
[[nodiscard]] AEE_API std::map<std::string, std::uint64_t> metrics();
/// Sets the counters to zero. Counts of other threads that happen at the same time may be lost or kept.
AEE_API void reset_metrics();

/// A text for people: the mode of the calling thread, counters that are not zero, and the places where segments ended,
/// most launched first: why they ended there and how often they were known.
[[nodiscard]] AEE_API std::string explain();

}  // namespace aee
