#include "ir/step_view.h"

#include <algorithm>

namespace aee {
namespace {

bool is_scalar(Tag tag) noexcept {
  return tag == Tag::kScalarInt || tag == Tag::kScalarDouble || tag == Tag::kScalarBool || tag == Tag::kScalarComplex;
}

/// Words of the key behind the head.
std::size_t words_after(const Op& op, const Head& head) noexcept {
  switch (head.tag) {
    case Tag::kTensor:
      return 2 * std::size_t{head.rank};
    case Tag::kHostScalar:
    case Tag::kInt:
    case Tag::kDouble:
    case Tag::kBool:
      return 1;
    case Tag::kIntList:
    case Tag::kDoubleList:
      return head.count;
    case Tag::kString:
      return (std::size_t{head.count} + 7) / 8;
    default:
      if (is_scalar(head.tag)) return op.has(kScalarsAreData) ? 1 : 2;
      return 0;  // nothing, or a list whose elements are arguments themselves
  }
}

std::size_t params_of(const Op& op, const Head& head) noexcept {
  if (head.tag == Tag::kTensor) return 1;
  if (head.tag == Tag::kHostScalar) return 2;
  if (!is_scalar(head.tag) || !op.has(kScalarsAreData)) return 0;
  return head.tag == Tag::kScalarComplex ? 2 : 1;
}

}  // namespace

std::size_t slot_count(const StepView& view) noexcept {
  std::size_t count = 0;
  for (const StepArgument& one : view.arguments) {
    if (names_slot(one)) count = std::max<std::size_t>(count, std::size_t{one.head.count} + 1);
  }
  return count;
}

std::optional<StepView> view_step(const Op& op, std::span<const std::uint64_t> key) {
  if (key.size() < StepReader::kOpWords) return std::nullopt;
  StepView view;
  view.op_id = key[0];
  view.state = key[1];
  std::size_t at = StepReader::kOpWords;
  while (at < key.size() && !is_relation(key[at])) {
    const Head head = Head::unpack(key[at++]);
    const std::size_t count = words_after(op, head);
    if (head.tag < Tag::kNone || head.tag > Tag::kGenerator || count > key.size() - at) return std::nullopt;
    view.arguments.push_back({head, key.subspan(at, count)});
    view.params += params_of(op, head);
    at += count;
  }
  for (; at < key.size(); at += 2) {
    if (!is_relation(key[at]) || key.size() - at < 2) return std::nullopt;
    view.relations.push_back({static_cast<std::uint32_t>(key[at] >> 8), static_cast<std::int64_t>(key[at + 1])});
  }
  return view;
}

void append_structure(const StepView& view, std::span<const std::uint64_t> key, std::vector<std::uint64_t>& words) {
  words.insert(words.end(), {view.op_id, view.state});
  for (const StepArgument& argument : view.arguments) {
    words.push_back(argument.head.pack());
    if (argument.head.tag != Tag::kTensor) words.insert(words.end(), argument.words.begin(), argument.words.end());
  }
  const auto relations = key.last(2 * view.relations.size());
  words.insert(words.end(), relations.begin(), relations.end());
}

}  // namespace aee
