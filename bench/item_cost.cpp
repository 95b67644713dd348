// Question: how long does a program wait at item(), which every training loop calls, against eager CPU?
//
// Emulator, one compute thread, in C++; the time of the call that waits alone, in nanoseconds that pass, op by op and
// in adaptive mode. "Ready": the value is there. "After n ops": n ops on 16 elements were just recorded; with a pause
// between them as Python makes one, the device keeps up and little is left to wait for. Heap: allocations a lap, of all
// threads, record included. usage: item_cost [LAPS]
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "bench/measure.h"
#include "bindings/torch/surface.h"

namespace {

using aee::bench::median;
using aee::bench::nanoseconds;

struct Case {
  const char* name;
  int ops;
  double pause_ns;  // of the host before each op
};

struct Figures {
  std::vector<double> record, item;
  double heap = 0;
};

void spin(double length_ns) {
  const double end = nanoseconds(CLOCK_MONOTONIC) + length_ns;
  while (nanoseconds(CLOCK_MONOTONIC) < end) {
  }
}

/// One lap: ops that follow one another, then item(). The first lap is other work than the rest: it learns.
void lap(const Case& one, const at::Tensor& start, double* record_ns, double* item_ns) {
  at::Tensor x = start;
  double recording = 0;
  for (int i = 0; i < one.ops; ++i) {
    if (one.pause_ns > 0) spin(one.pause_ns);
    const double begin = nanoseconds(CLOCK_MONOTONIC);
    x = at::mul(x, start);
    recording += nanoseconds(CLOCK_MONOTONIC) - begin;
  }
  const at::Tensor first = x.select(0, 0);
  const double begin = nanoseconds(CLOCK_MONOTONIC);
  const double value = first.item<double>();
  *item_ns = nanoseconds(CLOCK_MONOTONIC) - begin;
  *record_ns = recording / std::max(one.ops, 1);
  if (value != 1) std::abort();
}

Figures measure(const Case& one, const at::Device& device, int laps) {
  const at::Tensor start = at::ones({16}).to(device);
  double record = 0, item = 0;
  for (int i = 0; i < 200; ++i) lap(one, start, &record, &item);
  Figures figures;
  figures.record.reserve(static_cast<std::size_t>(laps));
  figures.item.reserve(static_cast<std::size_t>(laps));
  const std::uint64_t before = aee::testing::allocation_count;
  for (int i = 0; i < laps; ++i) {
    lap(one, start, &record, &item);
    figures.record.push_back(record);
    figures.item.push_back(item);
  }
  figures.heap = static_cast<double>(aee::testing::allocation_count - before) / laps;
  return figures;
}

void print(const char* name, const char* side, const Figures& figures) {
  std::printf("  %-26s %-9s op %6.0f   item() min %7.0f med %7.0f   heap blocks/lap %6.1f\n", name, side,
              median(figures.record), *std::min_element(figures.item.begin(), figures.item.end()), median(figures.item),
              figures.heap);
}

}  // namespace

int main(int argc, char** argv) {
  const int laps = argc > 1 && std::atoi(argv[1]) > 0 ? std::atoi(argv[1]) : 2000;
  at::set_num_threads(1);
  if (aee::device_count() == 0) return 1;
  const c10::InferenceMode inference;
  std::printf("ns; op: what the host pays to record one\n");
  for (const Case& one : {Case{"ready", 0, 0}, Case{"after 1 op", 1, 0}, Case{"after 20 ops", 20, 0},
                          Case{"after 20 ops, pauses 5 us", 20, 5000}, Case{"after 1 op, pause 1 ms", 1, 1e6}}) {
    const int here = one.pause_ns > 1e5 ? std::max(laps / 10, 1) : laps;
    print(one.name, "eager", measure(one, at::kCPU, here));
    for (const bool adaptive : {false, true}) {
      aee::set_adaptive(adaptive);
      print("", adaptive ? "adaptive" : "op by op", measure(one, at::Device("neuron:0"), here));
    }
  }
  std::fflush(stdout);
  std::_Exit(0);
}
