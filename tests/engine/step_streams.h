// Synthetic streams of steps for the tests of the cut policy: what programs look like to the tracer, without data.
//
// A stream is a list of events: ops on values, waits of the host, and marks of laps. Values are numbers; an op reads
// some and makes one. Generators are seeded: the same arguments give the same stream.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace aee::test {

struct StreamEvent {
  enum class Kind : std::uint8_t { kOp, kWait, kLap };
  Kind kind;
  std::uint8_t cut_class = 0;
  std::uint64_t signature = 0;          ///< op, layouts and attributes
  std::vector<std::uint64_t> inputs{};  ///< values
  std::uint64_t output = 0;             ///< a value never seen before
};
using Stream = std::vector<StreamEvent>;

class StreamMaker {
 public:
  enum class Source : std::uint8_t { kPrevious, kBeforePrevious, kParameter };
  struct BodyOp {
    std::uint64_t signature;
    std::vector<Source> sources;
    std::uint64_t parameter;
  };
  using Body = std::vector<BodyOp>;

  explicit StreamMaker(std::uint64_t seed) : random_(seed) {}

  /// A straight body of `ops` random ops.
  Body body(std::size_t ops) {
    Body body(ops);
    for (BodyOp& op : body) {
      op.signature = below(12) + 1;
      op.sources.resize(below(2) + 1);
      for (Source& source : op.sources) source = static_cast<Source>(below(3));
      op.parameter = below(6);
    }
    return body;
  }
  /// Runs a body: `base` tells bodies apart and has parameters of its own, `shape` is part of every signature,
  /// `parameters` chooses other parameters for the same signatures.
  void emit(const Body& body, std::uint64_t base = 0, std::uint64_t shape = 0, std::uint64_t parameters = 0) {
    for (const BodyOp& op : body) {
      StreamEvent event{StreamEvent::Kind::kOp, op.signature == 1 ? std::uint8_t{1} : std::uint8_t{0}};
      event.signature = op.signature + 1000 * base + 100000 * shape;
      for (const Source source : op.sources) event.inputs.push_back(value(source, base, op.parameter + parameters));
      event.output = ++values_;
      before_ = previous_;
      previous_ = event.output;
      stream_.push_back(std::move(event));
    }
  }
  void lap() { stream_.push_back({StreamEvent::Kind::kLap}); }
  void wait() { stream_.push_back({StreamEvent::Kind::kWait}); }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool chance(double probability) { return static_cast<double>(random_() >> 11) * 0x1p-53 < probability; }
  Stream take() { return std::move(stream_); }

 private:
  [[nodiscard]] std::uint64_t value(Source source, std::uint64_t base, std::uint64_t parameter) const {
    if (source == Source::kPrevious) return previous_;
    if (source == Source::kBeforePrevious) return before_;
    return ~(1000 * base + parameter);
  }
  std::mt19937_64 random_;
  Stream stream_;
  std::uint64_t values_ = 2, previous_ = 1, before_ = 2;
};

/// `laps` times the same `ops` ops, after some others. waits: host reads after every so many laps, 0: none.
inline Stream loop(std::size_t ops, std::size_t laps, std::size_t waits = 0, std::uint64_t seed = 1) {
  StreamMaker maker(seed);
  const StreamMaker::Body body = maker.body(ops);
  maker.emit(maker.body(37), 9);
  for (std::size_t i = 0; i < laps; ++i) {
    maker.lap();
    maker.emit(body);
    if (waits != 0 && (i + 1) % waits == 0) maker.wait();
  }
  return maker.take();
}

enum class Trips : std::uint8_t { kFixed, kVarying };
/// An inner loop of about `trips` rounds, then an outer body.
inline Stream nested(std::size_t inner, std::size_t trips, std::size_t outer, std::size_t laps, Trips kind,
                     std::uint64_t seed = 1) {
  StreamMaker maker(seed);
  const StreamMaker::Body in = maker.body(inner), out = maker.body(outer);
  for (std::size_t i = 0; i < laps; ++i) {
    maker.lap();
    const std::size_t rounds = kind == Trips::kFixed ? trips : trips / 2 + maker.below(2 * trips - trips / 2);
    for (std::size_t k = 0; k < rounds; ++k) maker.emit(in);
    maker.emit(out, 3);
  }
  return maker.take();
}

/// Stochastic depth: each of `layers` bodies is left out with a probability. waits: a host read after so many layers.
inline Stream stochastic_depth(std::size_t layers, std::size_t ops, double skip, std::size_t laps,
                               std::size_t waits = 0, std::uint64_t seed = 1) {
  StreamMaker maker(seed);
  std::vector<StreamMaker::Body> bodies;
  for (std::size_t i = 0; i < layers; ++i) bodies.push_back(maker.body(ops));
  const StreamMaker::Body head = maker.body(30);
  for (std::size_t i = 0; i < laps; ++i) {
    maker.lap();
    maker.emit(head, 7);
    for (std::size_t k = 0; k < layers; ++k) {
      if (!maker.chance(skip)) maker.emit(bodies[k], k + 10);
      if (waits != 0 && k % waits == waits - 1) maker.wait();
    }
  }
  return maker.take();
}

/// `layers` times the same body with parameters of its own, between a head and a tail: a deep model.
inline Stream layered(std::size_t layers, std::size_t ops, std::size_t laps, std::uint64_t seed = 1) {
  StreamMaker maker(seed);
  const StreamMaker::Body head = maker.body(12), layer = maker.body(ops), tail = maker.body(25);
  for (std::size_t i = 0; i < laps; ++i) {
    maker.lap();
    maker.emit(head, 1);
    for (std::size_t k = 0; k < layers; ++k) maker.emit(layer, 0, 0, 100 * (k + 1));
    maker.emit(tail, 2);
  }
  return maker.take();
}

/// Two branches in turn between a common head and a common tail.
inline Stream alternating(std::size_t ops, std::size_t laps, std::uint64_t seed = 1) {
  StreamMaker maker(seed);
  const StreamMaker::Body head = maker.body(ops), odd = maker.body(ops), even = maker.body(ops), tail = maker.body(ops);
  for (std::size_t i = 0; i < laps; ++i) {
    maker.lap();
    maker.emit(head);
    maker.emit(i % 2 != 0 ? odd : even, 1 + i % 2);
    maker.emit(tail, 3);
  }
  return maker.take();
}

/// The same body with `shapes` shapes in rotation; a lap is one round of all shapes. 0: a new shape every time.
inline Stream rotating_shapes(std::size_t ops, std::size_t calls, std::size_t shapes, bool waits,
                              std::uint64_t seed = 1) {
  StreamMaker maker(seed);
  const StreamMaker::Body body = maker.body(ops);
  for (std::size_t i = 0; i < calls; ++i) {
    if (shapes == 0 || i % shapes == 0) maker.lap();
    maker.emit(body, 0, (shapes != 0 ? i % shapes : i) + 1);
    if (waits) maker.wait();
  }
  return maker.take();
}

/// A host read after every `ops` ops of a loop of `ops` ops.
inline Stream waits_every(std::size_t ops, std::size_t laps, std::uint64_t seed = 1) {
  StreamMaker maker(seed);
  const StreamMaker::Body body = maker.body(ops);
  for (std::size_t i = 0; i < laps; ++i) {
    maker.lap();
    maker.emit(body);
    maker.wait();
  }
  return maker.take();
}

}  // namespace aee::test
