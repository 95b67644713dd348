// Layers of recurrent networks as the CPU composes them out of cells: a cell over the steps of a sequence, in one or
// both directions, layer upon layer. Input is padded (one tensor, time first) or packed (the rows of all sequences,
// step by step, longest first).
//
// For the files of recurrent composites only. Everything here runs on the calling thread and calls differentiable
// operators; what they return is owned by the caller.
#pragma once

#include <algorithm>

#include "bindings/torch/composites_rnn_cell.h"

namespace aee {

/// The arguments that all networks share.
struct RnnOptions {
  bool has_biases;
  std::int64_t layers;
  double dropout;  ///< between layers
  bool train;
  bool bidirectional;
};

/// What goes into a layer: a tensor (time, batch, features).
struct Padded {
  at::Tensor data;
};
/// What one direction of one layer gives.
template <class State>
struct RnnResult {
  at::Tensor output;
  State state;
};

enum class Direction : unsigned char { kForward, kBackward };

/// One direction of one layer. The CPU multiplies all steps with the weights at once.
template <class Cell>
RnnResult<typename Cell::State> run_direction(const Padded& input, const typename Cell::State& start,
                                              const RnnWeights& weights, Direction direction) {
  std::vector<at::Tensor> gates = weights.of_input(input.data).unbind(0);
  if (direction == Direction::kBackward) std::reverse(gates.begin(), gates.end());
  std::vector<at::Tensor> outputs;
  typename Cell::State state = start;
  for (const at::Tensor& gate : gates) {
    state = Cell::step(weights, [&] { return gate; }, state);
    outputs.push_back(output_of(state));
  }
  TORCH_CHECK(!outputs.empty(), "Expected sequence length to be larger than 0 in RNN");
  if (direction == Direction::kBackward) std::reverse(outputs.begin(), outputs.end());
  return {at::stack(outputs, 0), state};
}

/// Takes the flat list of parameters apart, one entry a direction and layer.
inline std::vector<RnnWeights> gather_weights(at::TensorList params, bool has_biases, bool has_projections) {
  const std::size_t step = 2u + (has_biases ? 2u : 0u) + (has_projections ? 1u : 0u);
  TORCH_CHECK(params.size() % step == 0, "got an incorrect number of RNN parameters");
  std::vector<RnnWeights> all;
  for (std::size_t i = 0; i < params.size(); i += step) {
    RnnWeights& one = all.emplace_back();
    one.w_ih = params[i];
    one.w_hh = params[i + 1];
    if (has_biases) one.b_ih = params[i + 2], one.b_hh = params[i + 3];
    if (has_projections) one.w_hr = params[i + step - 1];
  }
  return all;
}

/// Runs the layers; `states` are the start states and become the final ones. Returns the last layer's output.
template <class Cell, class Input>
at::Tensor run_layers(Input input, const std::vector<RnnWeights>& weights, std::vector<typename Cell::State>& states,
                      const RnnOptions& options) {
  const std::size_t directions = options.bidirectional ? 2 : 1;
  TORCH_CHECK(states.size() % directions == 0 && weights.size() % directions == 0,
              "Odd number of params or hiddens given to a bidirectional RNN");
  const auto layers = static_cast<std::size_t>(options.layers);
  TORCH_CHECK(layers == states.size() / directions, "Expected more hidden states in stacked_rnn");
  TORCH_CHECK(layers == weights.size() / directions, "Expected more weights in stacked_rnn");
  for (std::size_t layer = 0; layer < layers; ++layer) {
    std::vector<at::Tensor> outputs;
    for (std::size_t i = 0; i < directions; ++i) {
      const std::size_t index = layer * directions + i;
      RnnResult<typename Cell::State> done = run_direction<Cell>(input, states[index], weights[index],
                                                                 i == 0 ? Direction::kForward : Direction::kBackward);
      states[index] = done.state;
      outputs.push_back(done.output);
    }
    input.data = directions == 1 ? outputs[0] : at::cat(outputs, -1);
    if (options.dropout != 0 && options.train && layer + 1 < layers) {
      input.data = at::dropout(input.data, options.dropout, /*train=*/true);
    }
  }
  return input.data;
}

}  // namespace aee
