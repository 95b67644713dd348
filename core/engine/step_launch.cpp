#include "core/engine/step_launch.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/base/thread_number.h"

namespace aee {

void WaitList::add(Timepoint point) noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (points_[i].queue != point.queue) continue;
    if (point.sequence > points_[i].sequence) points_[i] = point;
    return;
  }
  points_[count_++] = point;
}

Launch& append_step(WordArray& block, const StepWriter& step, std::span<Buffer* const> fresh, const StepCode& code,
                    std::span<const Timepoint> waits) {
  const std::span<const Slot> slots = step.slots();
  const std::size_t buffers = fresh.size() + slots.size();
  const std::size_t head_words = sizeof(Launch) / 8 + waits.size() + buffers;
  const std::size_t payload_words = code.header_bytes / 8 + slots.size() + step.params().size();
  auto& launch = *::new (block.extend(head_words + payload_words)) Launch{};
  launch.run = code.run;
  launch.describe = code.describe;
  launch.thread = this_thread_number();
  launch.flags = static_cast<std::uint16_t>(code.flags);
  launch.size = static_cast<std::uint32_t>(8 * (head_words + payload_words));
  launch.wait_count = static_cast<std::uint16_t>(waits.size());
  launch.buffer_count = static_cast<std::uint16_t>(buffers);
  std::copy(waits.begin(), waits.end(), launch.waits().begin());

  Buffer** place = launch.buffers().data();
  for (Buffer* buffer : fresh) *place++ = buffer;
  for (const Slot& slot : slots) {
    if (slot.written) *place++ = slot.buffer;
  }
  launch.written_count = static_cast<std::uint16_t>(place - launch.buffers().data());
  for (const Slot& slot : slots) {
    if (!slot.written) *place++ = slot.buffer;
  }
  launch.fresh_count = static_cast<std::uint16_t>(fresh.size());
  bool small = true;
  for (Buffer* buffer : launch.buffers()) {
    buffer->retain();
    small &= buffer->small();
  }
  if (small) launch.flags |= kLaunchOnlySmall;

  auto* payload = static_cast<std::byte*>(launch.payload());
  std::memcpy(payload, code.header, code.header_bytes);
  auto* slot_place = reinterpret_cast<Buffer**>(payload + code.header_bytes);
  for (const Slot& slot : slots) *slot_place++ = slot.buffer;
  std::memcpy(slot_place, step.params().data(), step.params().size_bytes());
  return launch;
}

Timepoint StepLauncher::launch(DeviceContext& context, QueueId queue, const StepWriter& step,
                               std::span<Buffer* const> fresh, const StepCode& code) {
  waits_.clear();
  for (const Slot& slot : step.slots()) {
    context.settle(*slot.buffer, CutReason::kThread);
    const Timepoint last = slot.buffer->last_use();
    if (last.queue != queue && !context.reached(last)) waits_.add(last);
  }
  block_.clear();
  return context.submit(queue, append_step(block_, step, fresh, code, waits_.view()));
}

}  // namespace aee
