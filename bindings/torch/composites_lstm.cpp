#include "bindings/torch/composites.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/RNN.h>

#include "bindings/torch/composites_rnn_packed.h"

namespace aee {
namespace {

using at::Tensor;
using at::TensorList;

template <class Input>
std::tuple<Tensor, Tensor, Tensor> run_lstm(Input input, TensorList hx, TensorList params, bool has_projections,
                                            const RnnOptions& options) {
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
                                                   const RnnOptions& options, bool batch_first) {
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
  const RnnOptions options{has_biases, layers, dropout, train, bidirectional};
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
  const at::IntArrayRef rows = sizes_of(batch_sizes);
  const bool padded =
      !rows.empty() && std::all_of(rows.begin(), rows.end(), [&](auto size) { return size == rows[0]; });
  if (padded && !has_projections && onednn_takes(data, params, hx)) {
    // Sequences of one length are a plain batch.
    const auto steps = static_cast<std::int64_t>(rows.size());
    auto results = lstm_input(data.reshape({steps, rows[0], data.size(-1)}), hx, params, has_biases, layers, dropout,
                              train, bidirectional, /*batch_first=*/false);
    Tensor& output = std::get<0>(results);
    output = output.reshape({steps * rows[0], output.size(-1)});
    return results;
  }
  return run_lstm(Packed{data, rows}, hx, params, has_projections, {has_biases, layers, dropout, train, bidirectional});
}

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih, const Tensor& w_hh,
                                     const std::optional<Tensor>& b_ih, const std::optional<Tensor>& b_hh) {
  TORCH_CHECK(hx.size() == 2, "lstm_cell expects two hidden states");
  check_cell_input(input, w_ih);
  check_cell_weights(w_ih, w_hh, 4);
  check_cell_state(input, hx[0], w_hh, 0);
  check_cell_state(input, hx[1], w_hh, 1);
  const RnnWeights weights{w_ih, w_hh, b_ih.value_or(Tensor()), b_hh.value_or(Tensor()), {}};
  LstmState next = LstmCell::step(weights, [&] { return weights.of_input(input); }, {hx[0], hx[1]});
  return {next.hidden, next.cell};
}

}  // namespace

void install_lstm(torch::Library& library) {
  library.impl("lstm.input", &lstm_input);
  library.impl("lstm.data", &lstm_data);
  library.impl("lstm_cell", &lstm_cell);
}

}  // namespace aee
