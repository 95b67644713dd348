#include "ir/step_print.h"

#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <sstream>
#include <string_view>

#include "ir/step_view.h"

namespace aee {
namespace {

// In the order of PyTorch's ScalarType, which the keys hold.
constexpr std::array<std::string_view, 16> kDtypes = {"u8",  "i8",  "i16",  "i32",  "i64", "f16", "f32",  "f64",
                                                      "c32", "c64", "c128", "bool", "qi8", "qu8", "qi32", "bf16"};

void put_dtype(std::ostream& out, std::uint8_t dtype) {
  if (dtype < kDtypes.size()) {
    out << kDtypes[dtype];
  } else {
    out << "dtype" << unsigned{dtype};
  }
}

template <class Put>
void put_list(std::ostream& out, std::span<const std::uint64_t> words, Put put) {
  out << '[';
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) out << ", ";
    put(words[i]);
  }
  out << ']';
}

void put_tensor(std::ostream& out, const StepArgument& argument, std::span<const std::uint32_t> slots) {
  const Head& head = argument.head;
  out << '%' << (head.count < slots.size() ? slots[head.count] : head.count)
      << ((head.flags & kWritten) != 0 ? "! " : " ");
  put_dtype(out, head.dtype);
  const auto put = [&out](std::uint64_t word) { out << static_cast<std::int64_t>(word); };
  put_list(out, argument.words.first(head.rank), put);
  std::int64_t plain = 1;
  bool contiguous = true;
  for (std::size_t i = head.rank; i-- > 0;) {
    contiguous &= static_cast<std::int64_t>(argument.words[head.rank + i]) == plain;
    plain *= static_cast<std::int64_t>(argument.words[i]);
  }
  if (contiguous) return;
  out << '/';
  put_list(out, argument.words.subspan(head.rank), put);
}

void put_argument(std::ostream& out, const StepArgument& argument, std::span<const std::uint32_t> slots) {
  const auto words = argument.words;
  switch (argument.head.tag) {
    case Tag::kTensor:
      return put_tensor(out, argument, slots);
    case Tag::kNone:
      out << "None";
      return;
    case Tag::kUndefined:
      out << "undefined";
      return;
    case Tag::kInt:
      out << static_cast<std::int64_t>(words[0]);
      return;
    case Tag::kDouble:
      out << std::bit_cast<double>(words[0]);
      return;
    case Tag::kBool:
      out << (words[0] != 0 ? "True" : "False");
      return;
    case Tag::kIntList:
      return put_list(out, words, [&out](std::uint64_t word) { out << static_cast<std::int64_t>(word); });
    case Tag::kDoubleList:
      return put_list(out, words, [&out](std::uint64_t word) { out << std::bit_cast<double>(word); });
    case Tag::kString:
      out << '\'' << std::string_view(reinterpret_cast<const char*>(words.data()), argument.head.count) << '\'';
      return;
    case Tag::kDevice:
      out << "device";
      return;
    case Tag::kGenerator:
      out << "generator";
      return;
    case Tag::kTensorList:
    case Tag::kScalarList:
    case Tag::kBoolList:
      out << "list of " << argument.head.count << ':';
      return;
    default:
      out << "scalar";
      for (const std::uint64_t word : words) out << " 0x" << std::hex << word << std::dec;
  }
}

}  // namespace

std::string print_step(const PrintedStep& step) {
  const std::optional<StepView> view = view_step(*step.op, step.key);
  if (!view) return step.op->name + " (its key cannot be taken apart)";
  const std::size_t operands = slot_count(*view);
  std::ostringstream out;
  for (std::size_t i = operands; i < step.slots.size(); ++i) {
    out << (i == operands ? "%" : ", %") << step.slots[i] << (i + 1 == step.slots.size() ? " = " : "");
  }
  out << step.op->name << '(';
  for (std::size_t i = 0; i < view->arguments.size(); ++i) {
    if (i != 0) out << ", ";
    put_argument(out, view->arguments[i], step.slots);
  }
  out << ')';
  return out.str();
}

std::string print_graph(std::span<const PrintedStep> steps) {
  std::ostringstream out;
  std::map<std::uint32_t, std::size_t> writer;  // of each slot: the last step
  out << "digraph segment {\n  node [shape=box];\n";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    out << "  s" << i << " [label=\"" << print_step(steps[i]) << "\"];\n";
    const std::optional<StepView> view = view_step(*steps[i].op, steps[i].key);
    if (!view) continue;
    std::map<std::uint32_t, bool> touched;  // slot -> written
    for (const StepArgument& one : view->arguments) {
      if (!names_slot(one) || one.head.count >= steps[i].slots.size()) continue;
      touched[steps[i].slots[one.head.count]] |= writes_slot(one);
    }
    for (const auto& [slot, written] : touched) {
      if (const auto from = writer.find(slot); from != writer.end()) {
        out << "  s" << from->second << " -> s" << i << " [label=\"%" << slot << "\"];\n";
      }
      if (written) writer[slot] = i;
    }
    for (std::size_t j = slot_count(*view); j < steps[i].slots.size(); ++j) writer[steps[i].slots[j]] = i;
  }
  out << "}\n";
  return out.str();
}

}  // namespace aee
