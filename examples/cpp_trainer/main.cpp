// Trains an MLP on the CPU and on the device neuron, without Python, and compares every bit of losses and parameters.
//
//   cpp_trainer [adam|sgd] [STEPS]
//
// Exit code 0 if all bits are equal, 1 if not or if something failed.
#include <algorithm>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>

#include <adaptive_eager/adaptive_eager.h>

#include "training.h"

namespace {

bool same_bits(const torch::Tensor& a, const torch::Tensor& b) {
  const torch::Tensor left = a.contiguous(), right = b.contiguous();
  return left.dtype() == right.dtype() && left.sizes() == right.sizes() &&
         std::memcmp(left.const_data_ptr(), right.const_data_ptr(), left.nbytes()) == 0;
}

/// How many of the tensors have the same bits.
std::size_t count_equal(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) equal += same_bits(a[i], b[i]) ? 1 : 0;
  return equal;
}

/// Prints a line on what is equal; returns whether all is.
bool compare(const std::string& name, const Outcome& actual, const Outcome& expected) {
  const std::size_t losses = count_equal(actual.losses, expected.losses);
  const std::size_t parameters = count_equal(actual.parameters, expected.parameters);
  std::cout << name << ": " << losses << " of " << expected.losses.size() << " losses and " << parameters << " of "
            << expected.parameters.size() << " parameters have the CPU's bits\n";
  return losses == expected.losses.size() && parameters == expected.parameters.size();
}

void report_speed(const std::string& name, const Settings& settings, const Outcome& outcome) {
  std::cout << name << ": " << static_cast<double>(settings.steps) / outcome.seconds << " steps/s, loss "
            << outcome.losses.front().item<float>() << " -> " << outcome.losses.back().item<float>() << '\n';
}

/// Trains in one mode on the device and prints speed and counters; returns whether the bits are the CPU's.
bool run_mode(bool adaptive, const Settings& settings, const Outcome& expected) {
  const std::string name = adaptive ? "neuron, adaptive" : "neuron, op by op";
  const aee::AdaptiveEagerGuard mode(adaptive);
  aee::reset_metrics();
  const Outcome outcome = train(settings, aee::device());
  auto counters = aee::metrics();
  report_speed(name, settings, outcome);
  for (const char* counter : {"ops_recorded", "ops_executed", "segments_launched", "segment_hits", "syncs"}) {
    std::cout << "  " << counter << ' ' << counters.at(counter) << '\n';
  }
  return compare(name, outcome, expected);
}

int run(const Settings& settings) {
  at::set_num_threads(1);  // a model this small gains nothing from more
  const Outcome expected = train(settings, torch::kCPU);
  report_speed("cpu", settings, expected);
  const bool op_by_op = run_mode(/*adaptive=*/false, settings, expected);
  const bool adaptive = run_mode(/*adaptive=*/true, settings, expected);
  std::cout << aee::explain() << (op_by_op && adaptive ? "all bits are equal\n" : "BITS DIFFER\n");
  return op_by_op && adaptive ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Settings settings;
    if (argc > 1) settings.optimizer = argv[1];
    if (argc > 2) settings.steps = std::stoll(argv[2]);
    return run(settings);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
