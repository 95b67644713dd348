// Question: what do a launch, a wait, a wake-up, an event and a buffer cost, without any op in the launch?
//
// One launch is 200 bytes and names three buffers. "Help": the waiting thread runs the launch itself; "idle": the
// device thread must. The null device shows what is left when nothing runs. Wake-ups are latencies: of the device
// thread from a submit to the run, after the host stayed away for some microseconds as Python does between ops; of the
// host from the end of a run of some microseconds to its return from the wait. Counter heap: allocations an iteration.
// What an op, item() and copies cost on top: host_cost, item_cost.
#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>

#include "core/base/config.h"
#include "core/base/metrics.h"
#include "core/base/spin_lock.h"
#include "core/runtime/buffer.h"
#include "core/runtime/device.h"
#include "core/runtime/event.h"
#include "core/runtime/submit.h"
#include "tests/allocation_count.h"

namespace {

using namespace aee;

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBytes = 200;
constexpr std::uint64_t kSpace = std::uint64_t{1} << 34;

void spin_until(Clock::time_point end) {
  while (Clock::now() < end) cpu_relax();
}

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

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

  Launch& launch() { return *reinterpret_cast<Launch*>(block.data()); }

  Timepoint submit() {
    for (const BufferRef& buffer : buffers) buffer->retain();
    return submit_when_room(*device, queue, launch());
  }

  Metrics metrics;
  BufferPool pool;
  std::unique_ptr<Device> device;
  QueueId queue = 0;
  std::array<BufferRef, 3> buffers;
  alignas(8) std::array<std::byte, kBytes> block{};
};

/// Counts the allocations of a benchmark's loop.
class HeapCount {
 public:
  explicit HeapCount(benchmark::State& state) : state_(state), before_(testing::allocation_count) {}
  HeapCount(const HeapCount&) = delete;
  HeapCount& operator=(const HeapCount&) = delete;
  ~HeapCount() {
    const auto allocations = static_cast<double>(testing::allocation_count - before_);
    state_.counters["heap"] = allocations / static_cast<double>(state_.iterations());
  }

 private:
  benchmark::State& state_;
  std::uint64_t before_;
};

void submit(benchmark::State& state, DeviceKind kind) {
  Bench bench(kind);
  {
    const HeapCount heap(state);
    for (auto _ : state) benchmark::DoNotOptimize(bench.submit());
  }
  bench.device->wait(timepoint(bench.queue, bench.device->submitted(bench.queue)), WaitMode::kHelp);
}

void submit_and_wait(benchmark::State& state, WaitMode mode) {
  Bench bench(DeviceKind::kEmulator);
  {
    const HeapCount heap(state);
    for (auto _ : state) bench.device->wait(bench.submit(), mode);
  }
  state.counters["helped"] = static_cast<double>(bench.metrics.helped_launches.value());
}

std::atomic<Clock::rep> stamp{0};  // when the launch of a wake-up ran: 0 until then
std::atomic<Clock::rep> run_ns{0};

Clock::time_point stamped() { return Clock::time_point(Clock::duration(stamp.load())); }

void wake_device(benchmark::State& state) {
  Bench bench(DeviceKind::kEmulator);
  bench.launch().run = [](Launch&) { stamp.store(Clock::now().time_since_epoch().count()); };
  const HeapCount heap(state);
  for (auto _ : state) {
    stamp = 0;
    spin_until(Clock::now() + std::chrono::microseconds(state.range(0)));
    const auto begin = Clock::now();
    const Timepoint point = bench.submit();
    while (stamp.load() == 0) cpu_relax();
    state.SetIterationTime(seconds(stamped() - begin));
    bench.device->wait(point, WaitMode::kIdle);
  }
}

void wake_host(benchmark::State& state) {
  Bench bench(DeviceKind::kEmulator);
  run_ns = state.range(0) * 1000;
  bench.launch().flags = kLaunchParallel;  // nobody helps, and nobody spins while it runs
  bench.launch().run = [](Launch&) {
    spin_until(Clock::now() + std::chrono::nanoseconds(run_ns.load()));
    stamp.store(Clock::now().time_since_epoch().count());
  };
  const HeapCount heap(state);
  for (auto _ : state) {
    bench.device->wait(bench.submit(), WaitMode::kIdle);
    state.SetIterationTime(seconds(Clock::now() - stamped()));
  }
}

void record_event(benchmark::State& state, EventTiming timing) {
  Bench bench(DeviceKind::kEmulator);
  Event event;
  const HeapCount heap(state);
  for (auto _ : state) {
    event.record(*bench.device, bench.queue, timing);
    benchmark::DoNotOptimize(event.point());
  }
  event.synchronize();
}

void acquire_and_release(benchmark::State& state) {
  Bench bench(DeviceKind::kNull);
  const HeapCount heap(state);
  for (auto _ : state) benchmark::DoNotOptimize(bench.pool.acquire(64));
}

BENCHMARK_CAPTURE(submit, null, DeviceKind::kNull);
BENCHMARK_CAPTURE(submit, emulator, DeviceKind::kEmulator);
BENCHMARK_CAPTURE(submit_and_wait, help, WaitMode::kHelp)->UseRealTime();
BENCHMARK_CAPTURE(submit_and_wait, idle, WaitMode::kIdle)->UseRealTime();
BENCHMARK(wake_device)->ArgName("away_us")->Arg(0)->Arg(20)->Arg(1000)->UseManualTime();
BENCHMARK(wake_host)->ArgName("run_us")->Arg(1)->Arg(100)->Arg(1000)->UseManualTime();
BENCHMARK_CAPTURE(record_event, plain, EventTiming::kOff);
BENCHMARK_CAPTURE(record_event, timing, EventTiming::kOn);
BENCHMARK(acquire_and_release);

}  // namespace
