// Question: what do a launch, a wait, an event and a buffer cost, without any op in the launch?
//
// One launch is 200 bytes and names three buffers. "Help": the waiting thread runs the launch itself; "idle": another
// thread must wake up for it. The null device shows what is left when nothing runs.
#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <memory>

#include "core/base/config.h"
#include "core/base/metrics.h"
#include "core/runtime/buffer.h"
#include "core/runtime/device.h"
#include "core/runtime/event.h"
#include "core/runtime/submit.h"

namespace {

using namespace aee;

constexpr std::size_t kBytes = 200;
constexpr std::uint64_t kSpace = std::uint64_t{1} << 34;

struct Bench {
  explicit Bench(DeviceKind kind) : pool(0, kSpace, kSpace) {
    Config config;
    config.device = kind;
    device = make_device(config, metrics, ThreadHooks{});
    queue = device->open_queue();
    for (BufferRef& buffer : buffers) buffer = pool.acquire(64);
    auto& launch = *::new (block.data()) Launch{};
    launch.run = [](Launch&) {};
    launch.size = kBytes;
    launch.buffer_count = static_cast<std::uint16_t>(buffers.size());
    launch.written_count = 1;
    for (std::size_t i = 0; i < buffers.size(); ++i) launch.buffers()[i] = buffers[i].get();
  }

  Timepoint submit() {
    auto& launch = *reinterpret_cast<Launch*>(block.data());
    for (const BufferRef& buffer : buffers) buffer->retain();
    return submit_when_room(*device, queue, launch);
  }

  Metrics metrics;
  BufferPool pool;
  std::unique_ptr<Device> device;
  QueueId queue = 0;
  std::array<BufferRef, 3> buffers;
  alignas(8) std::array<std::byte, kBytes> block{};
};

void submit(benchmark::State& state, DeviceKind kind) {
  Bench bench(kind);
  for (auto _ : state) benchmark::DoNotOptimize(bench.submit());
  bench.device->wait(timepoint(bench.queue, bench.device->submitted(bench.queue)), WaitMode::kHelp);
}

void submit_and_wait(benchmark::State& state, WaitMode mode) {
  Bench bench(DeviceKind::kEmulator);
  for (auto _ : state) bench.device->wait(bench.submit(), mode);
  state.counters["helped"] = static_cast<double>(bench.metrics.helped_launches.value());
}

void record_event(benchmark::State& state, EventTiming timing) {
  Bench bench(DeviceKind::kEmulator);
  Event event;
  for (auto _ : state) {
    event.record(*bench.device, bench.queue, timing);
    benchmark::DoNotOptimize(event.point());
  }
  event.synchronize();
}

void acquire_and_release(benchmark::State& state) {
  Bench bench(DeviceKind::kNull);
  for (auto _ : state) benchmark::DoNotOptimize(bench.pool.acquire(64));
}

BENCHMARK_CAPTURE(submit, null, DeviceKind::kNull);
BENCHMARK_CAPTURE(submit, emulator, DeviceKind::kEmulator);
BENCHMARK_CAPTURE(submit_and_wait, help, WaitMode::kHelp)->UseRealTime();
BENCHMARK_CAPTURE(submit_and_wait, idle, WaitMode::kIdle)->UseRealTime();
BENCHMARK_CAPTURE(record_event, plain, EventTiming::kOff);
BENCHMARK_CAPTURE(record_event, timing, EventTiming::kOn);
BENCHMARK(acquire_and_release);

}  // namespace
