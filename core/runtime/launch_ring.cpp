#include "core/runtime/launch_ring.h"

#include <cstring>

namespace aee {
namespace {

// Note [Hot ring]
// A ring that is walked from end to end evicts the caches and faults in a page every few launches. So whenever the
// producer crosses a boundary of kHotBytes and finds the ring empty, it starts again from the front.

/// Bytes that the copy will have.
std::size_t copied_size(const Launch& launch, KeepWaits waits) noexcept {
  return waits == KeepWaits::kYes ? launch.size : launch.size - launch.wait_count * sizeof(Timepoint);
}

Launch* copy_block(std::byte* to, const Launch& launch, KeepWaits waits) noexcept {
  if (waits == KeepWaits::kYes) return static_cast<Launch*>(std::memcpy(to, &launch, launch.size));
  auto* copy = static_cast<Launch*>(std::memcpy(to, &launch, sizeof(Launch)));
  copy->wait_count = 0;
  copy->size = static_cast<std::uint32_t>(copied_size(launch, waits));
  std::memcpy(to + sizeof(Launch), launch.buffers().data(), copy->size - sizeof(Launch));
  return copy;
}

using HeapBlock = std::unique_ptr<std::byte[]>;

}  // namespace

LaunchRing::LaunchRing() : ring_(std::make_unique_for_overwrite<Line[]>(kBytes / sizeof(Line))) {
  static_assert(sizeof(Header) == 8);
}

LaunchRing::~LaunchRing() = default;

void LaunchRing::put_header(std::uint64_t position, std::size_t bytes, Kind kind) noexcept {
  const Header header{static_cast<std::uint32_t>(bytes), kind};
  std::memcpy(at(position), &header, sizeof header);
}

bool LaunchRing::push(const Launch& launch, KeepWaits waits) {
  const std::size_t size = copied_size(launch, waits);
  const bool on_heap = size > kMostInline;
  const std::size_t needed = sizeof(Header) + (on_heap ? sizeof(std::byte*) : size);

  std::uint64_t skipped = 0;
  const std::uint64_t offset = tail_ % kBytes, to_end = kBytes - offset;
  if (needed > to_end) {
    skipped = to_end;
  } else if (leaves_hot_bytes(launch) && needed <= offset && tail_ == head_) {
    skipped = to_end;  // Note [Hot ring]; what is skipped counts as used, so the block must fit in front of it
  }
  if (tail_ + skipped + needed - head_ > kBytes) return false;

  HeapBlock block;
  if (on_heap) {
    if (heap_bytes_ != 0 && heap_bytes_ + size > kMostHeapBytes) return false;
    block = std::make_unique_for_overwrite<std::byte[]>(size);
    heap_bytes_ += size;
  }
  if (skipped != 0) put_header(tail_, skipped, Kind::kSkip);
  tail_ += skipped;
  put_header(tail_, needed, on_heap ? Kind::kHeap : Kind::kInline);
  std::byte* content = at(tail_ + sizeof(Header));
  if (on_heap) {
    copy_block(block.get(), launch, waits);
    const std::byte* address = block.release();
    std::memcpy(content, &address, sizeof address);
  } else {
    copy_block(content, launch, waits);
  }
  tail_ += needed;
  return true;
}

/// Header of the block there; moves the position over a skip to it.
LaunchRing::Header LaunchRing::header_at(std::uint64_t& position) noexcept {
  Header header;
  std::memcpy(&header, at(position), sizeof header);
  if (header.kind != Kind::kSkip) [[likely]]
    return header;
  position += header.bytes;
  std::memcpy(&header, at(position), sizeof header);
  return header;
}

Launch& LaunchRing::block_at(std::uint64_t& position) noexcept {
  const Header header = header_at(position);
  std::byte* content = at(position + sizeof header);
  if (header.kind == Kind::kHeap) std::memcpy(&content, content, sizeof(std::byte*));
  return *reinterpret_cast<Launch*>(content);
}

void LaunchRing::pop() noexcept {
  const Header header = header_at(head_);
  if (header.kind == Kind::kHeap) {
    Launch& launch = oldest();
    const HeapBlock block(reinterpret_cast<std::byte*>(&launch));
    heap_bytes_ -= launch.size;
  }
  head_ += header.bytes;
}

}  // namespace aee
