// Question: what does the host pay to record one op, against what eager CPU pays to run it on 16 elements?
//
// Device `null` (TORCH_NEURON_DEVICE=null), one thread, both sides interleaved in one process: the median of paired
// CPU-time ratios. Two settings: inference mode, and plain tensors (autograd's keys are passed). Beside it: heap
// allocations an op on the hit path, counted by a replaced operator new.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "bench/measure.h"
#include "bindings/torch/surface.h"

namespace {

using aee::bench::median;
using aee::testing::allocation_count;

double cpu_ns() { return aee::bench::nanoseconds(CLOCK_THREAD_CPUTIME_ID); }

struct Case {
  const char* name;
  std::function<at::Tensor(const at::Tensor&, const at::Tensor&)> call;
};

constexpr int kInner = 2000;
int repetitions = 41;  // the second argument

double time_calls(const Case& one, const at::Tensor& a, const at::Tensor& b) {
  const double start = cpu_ns();
  for (int i = 0; i < kInner; ++i) one.call(a, b);
  return (cpu_ns() - start) / kInner;
}

void compare(const Case& one, const at::Device& device) {
  const at::Tensor host_a = at::rand({4, 4}), host_b = at::rand({4, 4});
  const at::Tensor a = host_a.to(device), b = host_b.to(device);
  time_calls(one, host_a, host_b);
  time_calls(one, a, b);
  if (std::getenv("HOST_COST_PROFILE") != nullptr) {  // for a profiler: our side only
    for (int i = 0; i < repetitions; ++i) time_calls(one, a, b);
    return;
  }
  std::vector<double> eager, ours, ratio;
  for (int i = 0; i < repetitions; ++i) {
    eager.push_back(time_calls(one, host_a, host_b));
    ours.push_back(time_calls(one, a, b));
    ratio.push_back(ours.back() / eager.back());
  }
  const std::uint64_t before = allocation_count.load();
  for (int i = 0; i < kInner; ++i) one.call(a, b);
  const double heap = static_cast<double>(allocation_count.load() - before) / kInner;
  std::printf("  %-6s eager min %6.0f med %6.0f   neuron min %6.0f med %6.0f   ratio med %.2f   heap blocks/op %.2f\n",
              one.name, *std::min_element(eager.begin(), eager.end()), median(eager),
              *std::min_element(ours.begin(), ours.end()), median(ours), median(ratio), heap);
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TORCH_NEURON_DEVICE", "null", /*overwrite=*/0);
  at::set_num_threads(1);
  const std::string only = argc > 1 ? argv[1] : "";
  if (argc > 2) repetitions = std::atoi(argv[2]);
  if (aee::device_count() == 0) return 1;
  const at::Device device("neuron:0");
  const std::vector<Case> cases = {
      {"add", [](const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }},
      {"mul", [](const at::Tensor& a, const at::Tensor& b) { return at::mul(a, b); }},
      {"relu", [](const at::Tensor& a, const at::Tensor&) { return at::relu(a); }},
      {"mm", [](const at::Tensor& a, const at::Tensor& b) { return at::mm(a, b); }},
  };
  for (const bool inference : {true, false}) {
    std::printf("%s, ns an op\n", inference ? "inference mode" : "autograd keys");
    const c10::InferenceMode mode(inference);
    for (const Case& one : cases) {
      if (only.empty() || only == one.name) compare(one, device);
    }
  }
  std::fflush(stdout);
  std::_Exit(0);
}
