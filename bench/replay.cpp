// Question: how would this build cut a recorded stream of steps, and what does tracing a step cost?
//
//   replay TRACE [LAPS]          segments, hits and nodes of each recorder after the first and the last lap, ns a step
//   replay TRACE --print         the steps of the stream, one a line, with its cuts
//   replay TRACE --graph         the first segments as a graph for Graphviz
//
// The stream comes from torch.neuron.dump_trace(). Offline: no device, no PyTorch.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/engine/trace_stream.h"
#include "ir/step_print.h"

namespace aee {
namespace {

struct Lap {
  std::uint64_t steps = 0, segments = 0, hits = 0;
  double ns = 0;
};

/// One recorder of the stream, traced by this build.
struct Replayed {
  explicit Replayed(const TracerLimits& limits) : tracer(limits) {}
  SegmentTracer tracer;
  std::vector<Lap> laps;
};

CutReason reason_of(const std::string& name) {
  for (std::size_t i = 0; i < kCutReasonCount; ++i) {
    if (kCutReasons[i].counter == name) return static_cast<CutReason>(i);
  }
  fail_user("'", name, "' is no reason for a cut that this build knows");
}

void run_lap(const TraceStream& stream, std::vector<std::unique_ptr<Replayed>>& recorders) {
  for (const auto& recorder : recorders) recorder->laps.emplace_back();
  for (const TraceEvent& event : stream.events) {
    Replayed& recorder = *recorders[event.recorder];
    Lap& lap = recorder.laps.back();
    const auto launch = [&lap](const SegmentCut& cut) {
      ++lap.segments;
      lap.hits += cut.hit ? 1 : 0;
    };
    const auto start = std::chrono::steady_clock::now();
    if (event.is_step) {
      recorder.tracer.add({event.key, key_hash(event.key), event.operands, event.cut_class}, launch);
      ++lap.steps;
    } else {
      recorder.tracer.cut(reason_of(event.reason), event.waiting, launch);
    }
    lap.ns += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  }
}

void report(const char* name, std::size_t recorder, Replayed& replayed, const Lap& lap) {
  std::printf(
      "  recorder %zu  %-9s  steps %8llu  segments %7llu  hits %5.1f %%  nodes %zu  ns a step and key hash %.0f\n",
      recorder, name, static_cast<unsigned long long>(lap.steps), static_cast<unsigned long long>(lap.segments),
      lap.segments == 0 ? 0 : 100.0 * static_cast<double>(lap.hits) / static_cast<double>(lap.segments),
      replayed.tracer.trie().size(), lap.steps == 0 ? 0 : lap.ns / static_cast<double>(lap.steps));
}

void replay(const TraceStream& stream, int laps) {
  std::vector<std::unique_ptr<Replayed>> recorders;
  recorders.reserve(stream.recorders.size());
  for (const TracerLimits& limits : stream.recorders) recorders.push_back(std::make_unique<Replayed>(limits));
  for (int i = 0; i < laps; ++i) run_lap(stream, recorders);
  for (std::size_t i = 0; i < recorders.size(); ++i) {
    report("first lap", i, *recorders[i], recorders[i]->laps.front());
    report("last lap", i, *recorders[i], recorders[i]->laps.back());
  }
}

PrintedStep printed(const TraceEvent& event) {
  return {&event.op, event.key, {event.operands.begin(), event.operands.end()}};
}

void print(const TraceStream& stream) {
  for (const TraceEvent& event : stream.events) {
    const std::string text = event.is_step ? print_step(printed(event)) : "-- " + event.reason;
    std::printf("%zu  %s\n", event.recorder, text.c_str());
  }
}

void print_first_steps(const TraceStream& stream) {
  constexpr std::size_t kMost = 64;
  std::vector<PrintedStep> steps;
  for (const TraceEvent& event : stream.events) {
    if (event.is_step && steps.size() < kMost) steps.push_back(printed(event));
  }
  std::fputs(print_graph(steps).c_str(), stdout);
}

int run(int argc, char** argv) {
  if (argc < 2) fail_user("usage: replay TRACE [LAPS | --print | --graph]");
  std::ifstream file(argv[1]);
  if (!file) fail_user("cannot read '", argv[1], "'");
  const TraceStream stream = read_trace(file);
  const char* what = argc > 2 ? argv[2] : "8";
  if (std::strcmp(what, "--print") == 0) {
    print(stream);
  } else if (std::strcmp(what, "--graph") == 0) {
    print_first_steps(stream);
  } else {
    replay(stream, std::max(1, std::atoi(what)));
  }
  return 0;
}

}  // namespace
}  // namespace aee

int main(int argc, char** argv) {
  try {
    return aee::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "replay: %s\n", error.what());
    return 1;
  }
}
