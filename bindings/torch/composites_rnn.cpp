#include "bindings/torch/composites.h"

#include <ATen/native/RNN.h>

#include "bindings/torch/composites_rnn_packed.h"

namespace aee {
namespace {

using at::Tensor;
using at::TensorList;

Tensor tanh_of(const Tensor& tensor) { return at::tanh(tensor); }
Tensor relu_of(const Tensor& tensor) { return at::relu(tensor); }

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

Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                const std::optional<Tensor>& b_ih, const std::optional<Tensor>& b_hh) {
  check_cell_input(input, w_ih);
  check_cell_state(input, hx, w_hh, 0);
  check_cell_weights(w_ih, w_hh, 3);
  const RnnWeights weights{w_ih, w_hh, b_ih.value_or(Tensor()), b_hh.value_or(Tensor()), {}};
  return GruCell::step(weights, [&] { return weights.of_input(input); }, hx);
}

}  // namespace

void install_recurrent(torch::Library& library) {
  library.impl("gru.input", &rnn_input<GruCell>);
  library.impl("gru.data", &rnn_data<GruCell>);
  library.impl("rnn_tanh.input", &rnn_input<PlainCell<tanh_of>>);
  library.impl("rnn_tanh.data", &rnn_data<PlainCell<tanh_of>>);
  library.impl("rnn_relu.input", &rnn_input<PlainCell<relu_of>>);
  library.impl("rnn_relu.data", &rnn_data<PlainCell<relu_of>>);
  library.impl("gru_cell", &gru_cell);
}

}  // namespace aee
