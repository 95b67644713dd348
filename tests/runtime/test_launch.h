// TestLaunch: builds a launch around a closure, for tests. The closure lives on the heap until the launch is discarded,
// so a test can see by counting closures that every launch was discarded once. One thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/submit.h"

namespace aee::testing {

/// Memory of eight bytes behind a test buffer. On the heap: small buffers keep theirs, and may outlive the device.
struct TestBacking {
  static std::int64_t& value(Buffer& buffer) {
    if (buffer.backing().object == nullptr) {
      buffer.backing() = {std::make_unique<TestBacking>().release(), [](void* object) noexcept {
                            const std::unique_ptr<TestBacking> owned(static_cast<TestBacking*>(object));
                          }};
    }
    return static_cast<TestBacking*>(buffer.backing().object)->memory;
  }

  std::int64_t memory = 0;
};

class TestLaunch {
 public:
  explicit TestLaunch(
      std::function<void()> body = [] {}, std::uint16_t flags = 0)
      : body_(std::move(body)), flags_(flags) {}

  TestLaunch& writes(const BufferRef& buffer) {
    buffers_.insert(buffers_.begin() + written_++, buffer);
    return *this;
  }
  TestLaunch& reads(const BufferRef& buffer) {
    buffers_.push_back(buffer);
    return *this;
  }
  TestLaunch& after(Timepoint point) {
    waits_.push_back(point);
    return *this;
  }
  TestLaunch& padded(std::size_t bytes) {
    padding_ = bytes;
    return *this;
  }

  /// Submits and waits for room.
  Timepoint submit(Device& device, QueueId queue) {
    return handed_over([&](const Launch& launch) { return std::optional(submit_when_room(device, queue, launch)); })
        .value();
  }

  /// Submits unless the queue refuses; a refused launch leaves nothing behind.
  std::optional<Timepoint> try_submit(Device& device, QueueId queue) {
    return handed_over([&](const Launch& launch) {
      Timepoint point;
      const bool accepted = device.submit(queue, launch, &point) == Submitted::kAccepted;
      return accepted ? std::optional(point) : std::nullopt;
    });
  }

  static std::string describe(const Launch&) { return "test op at line 1"; }

 private:
  using Body = std::function<void()>;

  /// Calls `submit` with the launch, which takes the closure and a reference to each buffer if it has a timepoint.
  template <class Submit>
  std::optional<Timepoint> handed_over(Submit submit) {
    auto body = std::make_unique<Body>(body_);
    const std::vector<std::uint64_t> block = build(body.get());
    std::vector<BufferRef> references = buffers_;
    const std::optional<Timepoint> point = submit(*reinterpret_cast<const Launch*>(block.data()));
    if (!point) return point;
    static_cast<void>(body.release());
    for (BufferRef& reference : references) static_cast<void>(reference.detach());
    return point;
  }

  [[nodiscard]] std::vector<std::uint64_t> build(Body* body) const {
    Launch launch;
    launch.run = [](Launch& self) { (**static_cast<Body**>(self.payload()))(); };
    launch.discard = [](Launch& self) noexcept {
      const std::unique_ptr<Body> owned(*static_cast<Body**>(self.payload()));
    };
    launch.describe = &describe;
    launch.wait_count = static_cast<std::uint16_t>(waits_.size());
    launch.buffer_count = static_cast<std::uint16_t>(buffers_.size());
    launch.written_count = static_cast<std::uint16_t>(written_);
    launch.flags = flags_;
    const std::size_t size = sizeof launch + 8 * (waits_.size() + buffers_.size() + 1) + padding_;
    launch.size = static_cast<std::uint32_t>(size);
    std::vector<std::uint64_t> block(size / 8);
    auto& copy = *static_cast<Launch*>(std::memcpy(block.data(), &launch, sizeof launch));
    std::copy(waits_.begin(), waits_.end(), copy.waits().begin());
    for (std::size_t i = 0; i < buffers_.size(); ++i) copy.buffers()[i] = buffers_[i].get();
    *static_cast<Body**>(copy.payload()) = body;
    return block;
  }

  Body body_;
  std::uint16_t flags_;
  std::vector<BufferRef> buffers_;
  std::vector<Timepoint> waits_;
  std::ptrdiff_t written_ = 0;
  std::size_t padding_ = 0;
};

}  // namespace aee::testing
