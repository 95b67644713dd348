// Layers of recurrent networks over packed sequences: the rows of all sequences, step by step, longest first.
//
// For the files of recurrent composites only. Everything here runs on the calling thread and calls differentiable
// operators; what they return is owned by the caller.
#pragma once

#include "bindings/torch/composites_rnn_layers.h"

namespace aee {

/// What goes into a layer: rows of several sequences, and how many there are at each step.
struct Packed {
  at::Tensor data;
  at::IntArrayRef batch_sizes;
};

/// Steps have fewer and fewer rows: the states of sequences that end are set aside.
template <class Cell>
RnnResult<typename Cell::State> run_packed_forward(const Packed& input, const typename Cell::State& start,
                                                   const RnnWeights& weights) {
  const at::Tensor gates = weights.of_input(input.data);
  std::vector<at::Tensor> outputs;
  std::vector<typename Cell::State> ended;
  typename Cell::State state = start;
  std::int64_t row = 0;
  std::int64_t rows = input.batch_sizes[0];
  for (const std::int64_t size : input.batch_sizes) {
    const at::Tensor gate = gates.narrow(0, row, size);
    row += size;
    if (size < rows) {
      ended.push_back(rows_of(state, size, rows));
      state = rows_of(state, 0, size);
    }
    rows = size;
    state = Cell::step(weights, [&] { return gate; }, state);
    outputs.push_back(output_of(state));
  }
  ended.push_back(state);
  std::reverse(ended.begin(), ended.end());
  return {at::cat(outputs, 0), concatenate(ended)};
}

/// From the last step to the first there are more and more rows: their start states join.
template <class Cell>
RnnResult<typename Cell::State> run_packed_backward(const Packed& input, const typename Cell::State& start,
                                                    const RnnWeights& weights) {
  const at::Tensor gates = weights.of_input(input.data);
  std::vector<at::Tensor> outputs;
  std::int64_t row = input.data.size(0);
  std::int64_t rows = input.batch_sizes.back();
  typename Cell::State state = rows_of(start, 0, rows);
  for (std::size_t i = input.batch_sizes.size(); i-- > 0;) {
    const std::int64_t size = input.batch_sizes[i];
    if (size > rows) state = concatenate(std::vector<typename Cell::State>{state, rows_of(start, rows, size)});
    const at::Tensor gate = gates.narrow(0, row - size, size);
    row -= size;
    rows = size;
    state = Cell::step(weights, [&] { return gate; }, state);
    outputs.push_back(output_of(state));
  }
  std::reverse(outputs.begin(), outputs.end());
  return {at::cat(outputs, 0), state};
}

template <class Cell>
RnnResult<typename Cell::State> run_direction(const Packed& input, const typename Cell::State& start,
                                              const RnnWeights& weights, Direction direction) {
  return direction == Direction::kForward ? run_packed_forward<Cell>(input, start, weights)
                                          : run_packed_backward<Cell>(input, start, weights);
}

/// The numbers of rows of packed sequences, in host memory.
inline at::IntArrayRef sizes_of(const at::Tensor& batch_sizes) {
  TORCH_CHECK(batch_sizes.is_cpu() && batch_sizes.scalar_type() == at::kLong,
              "batch_sizes should always be on CPU and of type long");
  return {batch_sizes.data_ptr<std::int64_t>(), static_cast<std::size_t>(batch_sizes.size(0))};
}

}  // namespace aee
