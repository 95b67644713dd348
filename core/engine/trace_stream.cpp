#include "core/engine/trace_stream.h"

#include <istream>
#include <sstream>
#include <utility>

#include "core/base/error.h"

namespace aee {
namespace {

constexpr const char* kFirstLine = "adaptive-eager-trace 1";

template <class Numbers>
void put_list(std::ostream& out, const Numbers& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) out << (i == 0 ? "" : ",") << numbers[i];
}

std::vector<std::uint64_t> read_list(const std::string& text, int base) {
  std::vector<std::uint64_t> numbers;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');) numbers.push_back(std::stoull(one, nullptr, base));
  return numbers;
}

/// The value behind a word that must come next.
template <class T>
T read_field(std::istream& in, const char* word) {
  std::string found;
  T value{};
  in >> found >> value;
  if (!in || found != word) fail_user("expected '", word, "' and a value, got '", found, "'");
  return value;
}

TraceEvent read_event(const std::string& kind, std::istream& in) {
  TraceEvent event;
  in >> event.recorder;
  if (kind == "cut") {
    event.reason = read_field<std::string>(in, "reason");
    event.waiting = read_field<int>(in, "waiting") != 0;
    return event;
  }
  if (kind != "step") fail_user("expected 'recorder', 'step' or 'cut', got '", kind, "'");
  event.is_step = true;
  event.cut_class = static_cast<std::uint8_t>(read_field<unsigned>(in, "class"));
  event.op.traits = read_field<Traits>(in, "traits");
  event.op.name = read_field<std::string>(in, "op");
  event.key = read_list(read_field<std::string>(in, "key"), 16);
  event.operands = read_list(read_field<std::string>(in, "operands"), 10);
  if (event.key.empty() || event.operands.empty()) fail_user("expected a step with a key and operands");
  event.op.id = static_cast<std::uint32_t>(event.key[0]);
  return event;
}

TracerLimits read_limits(std::istream& in) {
  TracerLimits limits;
  limits.max_ops = read_field<std::uint32_t>(in, "max_ops");
  limits.costs.host_us = read_field<double>(in, "host_us");
  limits.costs.device_us = read_field<double>(in, "device_us");
  limits.costs.launch_us = read_field<double>(in, "launch_us");
  return limits;
}

void read_line(const std::string& line, TraceStream& stream) {
  std::istringstream in(line);
  std::string kind;
  in >> kind;
  if (kind == "recorder") {
    std::size_t number = 0;
    in >> number;
    if (number != stream.recorders.size()) fail_user("expected recorder ", stream.recorders.size(), ", got ", number);
    stream.recorders.push_back(read_limits(in));
    return;
  }
  stream.events.push_back(read_event(kind, in));
  if (stream.events.back().recorder >= stream.recorders.size())
    fail_user("expected a recorder that was told of before");
}

}  // namespace

TraceWriter::TraceWriter(std::string path) : path_(std::move(path)), out_(path_) {
  if (!out_) fail_user("dump_trace: cannot write '", path_, "': choose a file in a folder that exists and is writable");
  out_ << kFirstLine << '\n';
}

std::size_t TraceWriter::number_of(const void* recorder, const TracerLimits& limits) {
  const auto [place, added] = recorders_.try_emplace(recorder, recorders_.size());
  if (added) {
    out_ << "recorder " << place->second << " max_ops " << limits.max_ops << " host_us " << limits.costs.host_us
         << " device_us " << limits.costs.device_us << " launch_us " << limits.costs.launch_us << '\n';
  }
  return place->second;
}

void TraceWriter::step(const void* recorder, const TracerLimits& limits, const Op& op, const TracedStep& step) {
  const std::lock_guard guard(lock_);
  std::vector<std::size_t> operands;
  for (const std::uint64_t buffer : step.operands) {
    operands.push_back(buffers_.try_emplace(buffer, buffers_.size()).first->second);
  }
  const std::size_t number = number_of(recorder, limits);
  out_ << "step " << number << " class " << unsigned{step.cut_class} << " traits " << op.traits << " op " << op.name
       << " key " << std::hex;
  put_list(out_, step.key);
  out_ << std::dec << " operands ";
  put_list(out_, operands);
  out_ << '\n';
}

void TraceWriter::cut(const void* recorder, const TracerLimits& limits, CutReason reason, bool waiting) {
  const std::lock_guard guard(lock_);
  const std::size_t number = number_of(recorder, limits);
  out_ << "cut " << number << " reason " << info(reason).counter << " waiting " << (waiting ? 1 : 0) << '\n';
}

void TraceWriter::close() {
  const std::lock_guard guard(lock_);
  out_.close();
  if (!out_) fail_user("dump_trace: '", path_, "' was not written to its end: look for a full disk");
}

TraceStream read_trace(std::istream& in) {
  std::string line;
  if (!std::getline(in, line) || line != kFirstLine) fail_user("expected '", kFirstLine, "' in the first line");
  TraceStream stream;
  for (std::size_t number = 2; std::getline(in, line); ++number) {
    try {
      read_line(line, stream);
    } catch (const std::exception& error) {  // numbers that do not fit are told by the standard library
      fail_user("line ", number, " of the trace: ", error.what());
    }
  }
  return stream;
}

}  // namespace aee
