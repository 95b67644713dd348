// What the benchmarks with PyTorch share: clocks and the median. Header only; counts allocations too, so one source of
// a program includes it.
#pragma once

#include <time.h>

#include <algorithm>
#include <vector>

#include "tests/allocation_count.h"

namespace aee::bench {

/// Nanoseconds of CLOCK_THREAD_CPUTIME_ID (what this thread computes) or CLOCK_MONOTONIC (what passes).
inline double nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace aee::bench
