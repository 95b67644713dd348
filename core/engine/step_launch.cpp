#include "core/engine/step_launch.h"

#include <array>
#include <bit>
#include <cstring>

namespace aee {
namespace {

// The last uses on other queues that this launch must come after: one timepoint a queue is enough.
struct Waits {
  std::array<std::uint64_t, kMaxQueues> points;  // packed Timepoints; only the first `count` are ever set or read
  std::size_t count = 0;
};

void collect_wait(const DeviceContext& context, QueueId queue, const Buffer& buffer, Waits& waits) {
  const Timepoint last = buffer.last_use();
  if (last.queue == queue || context.reached(last)) [[likely]] return;
  for (std::size_t i = 0; i < waits.count; ++i) {
    const auto point = std::bit_cast<Timepoint>(waits.points[i]);
    if (point.queue != last.queue) continue;
    if (last.sequence > point.sequence) waits.points[i] = std::bit_cast<std::uint64_t>(last);
    return;
  }
  waits.points[waits.count++] = std::bit_cast<std::uint64_t>(last);
}

}  // namespace

Timepoint StepLauncher::launch(DeviceContext& context, QueueId queue, const StepWriter& step,
                               std::span<Buffer* const> fresh, const StepCode& code) {
  const std::span<const Slot> slots = step.slots();
  Waits waits;
  for (const Slot& slot : slots) collect_wait(context, queue, *slot.buffer, waits);
  const std::size_t buffers = fresh.size() + slots.size();
  const std::size_t head_words = sizeof(Launch) / 8 + waits.count + buffers;
  const std::size_t payload_words = code.header_bytes / 8 + slots.size() + step.words().size();

  block_.clear();
  std::uint64_t* words = block_.extend(head_words + payload_words);
  auto& launch = *new (words) Launch{};
  launch.run = code.run;
  launch.describe = code.describe;
  launch.flags = code.flags;
  launch.size = static_cast<std::uint32_t>(8 * (head_words + payload_words));
  launch.wait_count = static_cast<std::uint16_t>(waits.count);
  launch.buffer_count = static_cast<std::uint16_t>(buffers);

  for (std::size_t i = 0; i < waits.count; ++i) launch.waits()[i] = std::bit_cast<Timepoint>(waits.points[i]);
  Buffer** place = launch.buffers().data();
  for (Buffer* buffer : fresh) *place++ = buffer;
  for (const Slot& slot : slots) {
    if (slot.written) *place++ = slot.buffer;
  }
  launch.written_count = static_cast<std::uint16_t>(place - launch.buffers().data());
  for (const Slot& slot : slots) {
    if (!slot.written) *place++ = slot.buffer;
  }
  for (Buffer* buffer : launch.buffers()) buffer->retain();

  auto* payload = static_cast<std::byte*>(launch.payload());
  std::memcpy(payload, code.header, code.header_bytes);
  auto* slot_place = reinterpret_cast<Buffer**>(payload + code.header_bytes);
  for (const Slot& slot : slots) *slot_place++ = slot.buffer;
  std::memcpy(slot_place, step.words().data(), step.words().size_bytes());
  return context.submit(queue, launch);
}

}  // namespace aee
