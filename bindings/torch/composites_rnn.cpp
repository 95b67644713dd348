#include "bindings/torch/composites.h"

#include <algorithm>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/RNN.h>

#include "bindings/torch/composites_rnn_cell.h"

namespace aee {
namespace {

using at::Tensor;
using at::TensorList;

Tensor tanh_of(const Tensor& tensor) { return at::tanh(tensor); }
Tensor relu_of(const Tensor& tensor) { return at::relu(tensor); }

struct Options {
  bool has_biases;
  std::int64_t layers;
  double dropout;
  bool train;
  bool bidirectional;
};

/// What goes into a layer: a tensor (time, batch, features), or rows of several sequences packed step by step.
struct Padded {
  Tensor data;
};
struct Packed {
  Tensor data;
  at::IntArrayRef batch_sizes;
};

template <class State>
struct Layer {
  Tensor output;
  State state;
};

enum class Direction { kForward, kBackward };

// One direction of one layer. The CPU multiplies all steps with the weights at once.

template <class Cell>
Layer<typename Cell::State> run_direction(const Padded& input, const typename Cell::State& start,
                                          const RnnWeights& weights, Direction direction) {
  std::vector<Tensor> gates = weights.of_input(input.data).unbind(0);
  if (direction == Direction::kBackward) std::reverse(gates.begin(), gates.end());
  std::vector<Tensor> outputs;
  typename Cell::State state = start;
  for (const Tensor& gate : gates) {
    state = Cell::step(weights, [&] { return gate; }, state);
    outputs.push_back(output_of(state));
  }
  TORCH_CHECK(!outputs.empty(), "Expected sequence length to be larger than 0 in RNN");
  if (direction == Direction::kBackward) std::reverse(outputs.begin(), outputs.end());
  return {at::stack(outputs, 0), state};
}

// Steps have fewer and fewer rows: the states of sequences that end are set aside.
template <class Cell>
Layer<typename Cell::State> run_packed_forward(const Packed& input, const typename Cell::State& start,
                                               const RnnWeights& weights) {
  const Tensor gates = weights.of_input(input.data);
  std::vector<Tensor> outputs;
  std::vector<typename Cell::State> ended;
  typename Cell::State state = start;
  std::int64_t row = 0;
  std::int64_t rows = input.batch_sizes[0];
  for (const std::int64_t size : input.batch_sizes) {
    const Tensor gate = gates.narrow(0, row, size);
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

// From the last step to the first there are more and more rows: their start states join.
template <class Cell>
Layer<typename Cell::State> run_packed_backward(const Packed& input, const typename Cell::State& start,
                                                const RnnWeights& weights) {
  const Tensor gates = weights.of_input(input.data);
  std::vector<Tensor> outputs;
  std::int64_t row = input.data.size(0);
  std::int64_t rows = input.batch_sizes.back();
  typename Cell::State state = rows_of(start, 0, rows);
  for (std::size_t i = input.batch_sizes.size(); i-- > 0;) {
    const std::int64_t size = input.batch_sizes[i];
    if (size > rows) state = concatenate(std::vector<typename Cell::State>{state, rows_of(start, rows, size)});
    const Tensor gate = gates.narrow(0, row - size, size);
    row -= size;
    rows = size;
    state = Cell::step(weights, [&] { return gate; }, state);
    outputs.push_back(output_of(state));
  }
  std::reverse(outputs.begin(), outputs.end());
  return {at::cat(outputs, 0), state};
}

template <class Cell>
Layer<typename Cell::State> run_direction(const Packed& input, const typename Cell::State& start,
                                          const RnnWeights& weights, Direction direction) {
  return direction == Direction::kForward ? run_packed_forward<Cell>(input, start, weights)
                                          : run_packed_backward<Cell>(input, start, weights);
}

// All layers

std::vector<RnnWeights> gather_weights(TensorList params, bool has_biases, bool has_projections) {
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
Tensor run_layers(Input input, const std::vector<RnnWeights>& weights, std::vector<typename Cell::State>& states,
                  const Options& options) {
  const std::size_t directions = options.bidirectional ? 2 : 1;
  TORCH_CHECK(states.size() % directions == 0 && weights.size() % directions == 0,
              "Odd number of params or hiddens given to a bidirectional RNN");
  const auto layers = static_cast<std::size_t>(options.layers);
  TORCH_CHECK(layers == states.size() / directions, "Expected more hidden states in stacked_rnn");
  TORCH_CHECK(layers == weights.size() / directions, "Expected more weights in stacked_rnn");
  for (std::size_t layer = 0; layer < layers; ++layer) {
    std::vector<Tensor> outputs;
    for (std::size_t i = 0; i < directions; ++i) {
      const std::size_t index = layer * directions + i;
      Layer<typename Cell::State> done = run_direction<Cell>(input, states[index], weights[index],
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

at::IntArrayRef sizes_of(const Tensor& batch_sizes) {
  TORCH_CHECK(batch_sizes.is_cpu() && batch_sizes.scalar_type() == at::kLong,
              "batch_sizes should always be on CPU and of type long");
  return {batch_sizes.data_ptr<std::int64_t>(), static_cast<std::size_t>(batch_sizes.size(0))};
}

// Networks with one hidden tensor

template <class Cell>
std::tuple<Tensor, Tensor> rnn_input(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases,
                                     std::int64_t layers, double dropout, bool train, bool bidirectional,
                                     bool batch_first) {
  at::native::check_attributes(input, params, hx);
  const Padded steps{batch_first ? input.transpose(0, 1) : input};
  const std::vector<RnnWeights> weights = gather_weights(params, has_biases, /*has_projections=*/false);
  std::vector<Tensor> states = hx.unbind(0);
  Tensor output = run_layers<Cell>(steps, weights, states, {has_biases, layers, dropout, train, bidirectional});
  Tensor final_states = at::stack(states, 0);
  if (batch_first) output.transpose_(0, 1);
  return {output, final_states};
}

template <class Cell>
std::tuple<Tensor, Tensor> rnn_data(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params,
                                    bool has_biases, std::int64_t layers, double dropout, bool train,
                                    bool bidirectional) {
  const std::vector<RnnWeights> weights = gather_weights(params, has_biases, /*has_projections=*/false);
  std::vector<Tensor> states = hx.unbind(0);
  Tensor output = run_layers<Cell>(Packed{data, sizes_of(batch_sizes)}, weights, states,
                                   {has_biases, layers, dropout, train, bidirectional});
  return {output, at::stack(states, 0)};
}

// LSTM

template <class Input>
std::tuple<Tensor, Tensor, Tensor> run_lstm(Input input, TensorList hx, TensorList params, bool has_projections,
                                            const Options& options) {
  const std::vector<RnnWeights> weights = gather_weights(params, options.has_biases, has_projections);
  const std::vector<Tensor> hidden = hx[0].unbind(0);
  const std::vector<Tensor> cell = hx[1].unbind(0);
  std::vector<LstmState> states;
  for (std::size_t i = 0; i < hidden.size(); ++i) states.push_back({hidden[i], cell[i]});
  Tensor output = run_layers<LstmCell>(std::move(input), weights, states, options);
  std::vector<Tensor> hy, cy;
  for (const LstmState& state : states) {
    hy.push_back(state.hidden);
    cy.push_back(state.cell);
  }
  return {output, at::stack(hy, 0), at::stack(cy, 0)};
}

bool cpu_says(const char* name) {
  const c10::OperatorHandle question = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
  // Past the user's modes, which need not see this question.
  return question.typed<bool()>().redispatch(c10::DispatchKeySet(c10::DispatchKey::CPU));
}

bool onednn_takes(const Tensor& input, TensorList params, TensorList hx) {
  if (!at::globalContext().userEnabledMkldnn()) return false;
  static const bool bf16 = cpu_says("mkldnn::_is_mkldnn_bf16_supported");
  static const bool fp16 = cpu_says("mkldnn::_is_mkldnn_fp16_supported");
  const auto dense = [](const Tensor& one) { return one.is_privateuseone() && one.layout() == at::kStrided; };
  if (!dense(input) || !std::all_of(params.begin(), params.end(), dense) || !std::all_of(hx.begin(), hx.end(), dense)) {
    return false;
  }
  const at::ScalarType type = input.scalar_type();
  const bool type_fits = type == at::kFloat || (type == at::kBFloat16 && bf16) ||
                         (type == at::kHalf && !at::GradMode::is_enabled() && fp16);
  return type_fits && input.sym_numel() != 0;
}

// One oneDNN call for each direction of each layer.
std::tuple<Tensor, Tensor, Tensor> run_onednn_lstm(const Tensor& input, TensorList state, TensorList params,
                                                   const Options& options, bool batch_first) {
  constexpr std::int64_t kLstm = 2;  // ideep::rnn_kind
  const std::size_t step = options.has_biases ? 4 : 2;
  const std::size_t directions = options.bidirectional ? 2 : 1;
  const auto layers = static_cast<std::size_t>(options.layers);
  const Tensor hx = state[0].contiguous();
  const Tensor cx = state[1].contiguous();
  Tensor steps = (batch_first ? input.transpose(0, 1) : input).contiguous();
  TORCH_CHECK(params.size() % step == 0, "MatrixRef: ArrayRef size ", params.size(), " not divisible by stride ", step);
  std::vector<Tensor> hy(layers * directions), cy(layers * directions);
  const auto bias_or_zeros = [&](TensorList weights, std::size_t i) {
    return options.has_biases ? weights[i + 2] : at::zeros(weights[i].sizes(), weights[i].options());
  };
  for (std::size_t layer = 0; layer < layers; ++layer) {
    std::vector<Tensor> outputs(directions);
    for (std::size_t i = 0; i < directions; ++i) {
      const std::size_t index = layer * directions + i;
      const TensorList weights = params.slice(index * step, step);
      const Tensor hidden = hx[static_cast<std::int64_t>(index)];
      const Tensor cell = cx[static_cast<std::int64_t>(index)];
      std::tie(outputs[i], hy[index], cy[index], std::ignore) = at::mkldnn_rnn_layer(
          steps, weights[0], weights[1], bias_or_zeros(weights, 0), bias_or_zeros(weights, 1), hidden, cell,
          /*reverse=*/i > 0, /*batch_sizes=*/{}, kLstm, state[0].size(2), options.layers, options.has_biases,
          options.bidirectional, batch_first, options.train);
    }
    steps = directions == 1 ? outputs[0] : at::cat(outputs, -1);
    if (options.dropout != 0 && options.train && layer + 1 < layers) {
      steps = at::dropout(steps, options.dropout, /*train=*/true);
    }
  }
  const Tensor final_hidden = at::stack(hy, 0);
  const Tensor final_cell = at::stack(cy, 0);
  return {batch_first ? steps.transpose(0, 1) : steps, final_hidden, final_cell};
}

std::tuple<Tensor, Tensor, Tensor> lstm_input(const Tensor& input, TensorList hx, TensorList params, bool has_biases,
                                              std::int64_t layers, double dropout, bool train, bool bidirectional,
                                              bool batch_first) {
  TORCH_CHECK(hx.size() == 2, "lstm expects two hidden states");
  const Options options{has_biases, layers, dropout, train, bidirectional};
  const bool has_projections = hx[0].sym_size(2) != hx[1].sym_size(2);
  if (onednn_takes(input, params, hx)) {
    if (has_projections) {
      TORCH_WARN_ONCE("LSTM with projections is not supported with oneDNN. Using default implementation.");
    } else if (hx[0].unsafeGetTensorImpl()->has_symbolic_sizes_strides()) {
      TORCH_WARN_ONCE(
          "LSTM with symbolic sizes and strides is not supported with oneDNN. Using default implementation.");
    } else {
      return run_onednn_lstm(input, hx, params, options, batch_first);
    }
  }
  at::native::check_attributes(input, params, hx);
  auto results = run_lstm(Padded{batch_first ? input.transpose(0, 1) : input}, hx, params, has_projections, options);
  if (batch_first) std::get<0>(results) = std::get<0>(results).transpose(0, 1);
  return results;
}

std::tuple<Tensor, Tensor, Tensor> lstm_data(const Tensor& data, const Tensor& batch_sizes, TensorList hx,
                                             TensorList params, bool has_biases, std::int64_t layers, double dropout,
                                             bool train, bool bidirectional) {
  TORCH_CHECK(hx.size() == 2, "lstm expects two hidden states");
  const bool has_projections = hx[0].size(2) != hx[1].size(2);
  return run_lstm(Packed{data, sizes_of(batch_sizes)}, hx, params, has_projections,
                  {has_biases, layers, dropout, train, bidirectional});
}

// Cells called alone

void check_cell_input(const Tensor& input, const Tensor& w_ih) {
  TORCH_CHECK(input.sym_size(1) == w_ih.sym_size(1), "input has inconsistent input_size: got ", input.sym_size(1),
              " expected ", w_ih.sym_size(1));
}

void check_cell_state(const Tensor& input, const Tensor& hx, const Tensor& w_hh, int label) {
  TORCH_CHECK(input.sym_size(0) == hx.sym_size(0), "Input batch size ", input.sym_size(0), " doesn't match hidden",
              label, " batch size ", hx.sym_size(0));
  TORCH_CHECK(hx.sym_size(1) == w_hh.sym_size(1), "hidden", label, " has inconsistent hidden_size: got ",
              hx.sym_size(1), ", expected ", w_hh.sym_size(1));
}

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih, const Tensor& w_hh,
                                     const std::optional<Tensor>& b_ih, const std::optional<Tensor>& b_hh) {
  TORCH_CHECK(hx.size() == 2, "lstm_cell expects two hidden states");
  check_cell_input(input, w_ih);
  check_cell_state(input, hx[0], w_hh, 0);
  check_cell_state(input, hx[1], w_hh, 1);
  const RnnWeights weights{w_ih, w_hh, b_ih.value_or(Tensor()), b_hh.value_or(Tensor()), {}};
  LstmState next = LstmCell::step(weights, [&] { return weights.of_input(input); }, {hx[0], hx[1]});
  return {next.hidden, next.cell};
}

Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                const std::optional<Tensor>& b_ih, const std::optional<Tensor>& b_hh) {
  check_cell_input(input, w_ih);
  check_cell_state(input, hx, w_hh, 0);
  const RnnWeights weights{w_ih, w_hh, b_ih.value_or(Tensor()), b_hh.value_or(Tensor()), {}};
  return GruCell::step(weights, [&] { return weights.of_input(input); }, hx);
}

}  // namespace

void install_recurrent(torch::Library& library) {
  library.impl("lstm.input", &lstm_input);
  library.impl("lstm.data", &lstm_data);
  library.impl("gru.input", &rnn_input<GruCell>);
  library.impl("gru.data", &rnn_data<GruCell>);
  library.impl("rnn_tanh.input", &rnn_input<PlainCell<tanh_of>>);
  library.impl("rnn_tanh.data", &rnn_data<PlainCell<tanh_of>>);
  library.impl("rnn_relu.input", &rnn_input<PlainCell<relu_of>>);
  library.impl("rnn_relu.data", &rnn_data<PlainCell<relu_of>>);
  library.impl("lstm_cell", &lstm_cell);
  library.impl("gru_cell", &gru_cell);
}

}  // namespace aee
