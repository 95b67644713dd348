// Cells of recurrent networks as the CPU composes them: one step of a network, as a composite of differentiable
// operators. Which operators are called in which order matters: the order of creation is the order in which autograd
// adds up gradients.
//
// A cell is a type with a State and a function step(weights, gates, state), where gates() gives the input's part of the
// gates, computed at the call or long before it.
#pragma once

#include <vector>

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

namespace aee {

/// The parameters of one direction of one layer. What a network lacks is undefined: biases, the projection.
struct RnnWeights {
  at::Tensor w_ih, w_hh;
  at::Tensor b_ih, b_hh;
  at::Tensor w_hr;

  [[nodiscard]] at::Tensor of_input(const at::Tensor& input) const { return at::linear(input, w_ih, b_ih); }
  [[nodiscard]] at::Tensor of_hidden(const at::Tensor& hidden) const { return at::linear(hidden, w_hh, b_hh); }
  [[nodiscard]] at::Tensor project(at::Tensor hidden) const {
    return w_hr.defined() ? at::matmul(hidden, w_hr.t()) : hidden;
  }
};

/// The state of a network with one hidden tensor is that tensor; an LSTM has two.
struct LstmState {
  at::Tensor hidden, cell;
};

inline const at::Tensor& output_of(const at::Tensor& state) { return state; }
inline const at::Tensor& output_of(const LstmState& state) { return state.hidden; }

inline at::Tensor rows_of(const at::Tensor& state, std::int64_t begin, std::int64_t end) {
  return state.narrow(0, begin, end - begin);
}
inline LstmState rows_of(const LstmState& state, std::int64_t begin, std::int64_t end) {
  return {rows_of(state.hidden, begin, end), rows_of(state.cell, begin, end)};
}

inline at::Tensor concatenate(const std::vector<at::Tensor>& states) { return at::cat(states, 0); }
inline LstmState concatenate(const std::vector<LstmState>& states) {
  std::vector<at::Tensor> hidden, cell;
  for (const LstmState& state : states) {
    hidden.push_back(state.hidden);
    cell.push_back(state.cell);
  }
  return {concatenate(hidden), concatenate(cell)};
}

/// A network with one gate, tanh or relu.
template <at::Tensor (*activate)(const at::Tensor&)>
struct PlainCell {
  using State = at::Tensor;
  template <class Gates>
  static State step(const RnnWeights& weights, Gates gates, const State& state) {
    at::Tensor sum = weights.of_hidden(state);
    sum.add_(gates());
    return activate(sum);
  }
};

struct GruCell {
  using State = at::Tensor;
  template <class Gates>
  static State step(const RnnWeights& weights, Gates gates, const State& state) {
    const std::vector<at::Tensor> of_input = gates().unsafe_chunk(3, 1);
    std::vector<at::Tensor> of_hidden = weights.of_hidden(state).unsafe_chunk(3, 1);
    const at::Tensor reset = of_hidden[0].add_(of_input[0]).sigmoid_();
    const at::Tensor update = of_hidden[1].add_(of_input[1]).sigmoid_();
    const at::Tensor fresh = of_input[2].add(of_hidden[2].mul_(reset)).tanh_();
    return (state - fresh).mul_(update).add_(fresh);
  }
};

struct LstmCell {
  using State = LstmState;
  template <class Gates>
  static State step(const RnnWeights& weights, Gates gates, const State& state) {
    at::Tensor sum = weights.of_hidden(state.hidden);
    sum.add_(gates());
    std::vector<at::Tensor> gate = sum.unsafe_chunk(4, 1);
    const at::Tensor in = gate[0].sigmoid_();
    const at::Tensor forget = gate[1].sigmoid_();
    const at::Tensor fresh = gate[2].tanh_();
    const at::Tensor out = gate[3].sigmoid_();
    at::Tensor cell = forget * state.cell;
    cell.add_(in * fresh);
    return {weights.project(out * cell.tanh()), cell};
  }
};

/// The checks of a cell that is called alone.
inline void check_cell_input(const at::Tensor& input, const at::Tensor& w_ih) {
  TORCH_CHECK(input.sym_size(1) == w_ih.sym_size(1), "input has inconsistent input_size: got ", input.sym_size(1),
              " expected ", w_ih.sym_size(1));
}
inline void check_cell_state(const at::Tensor& input, const at::Tensor& hx, const at::Tensor& w_hh, int label) {
  TORCH_CHECK(input.sym_size(0) == hx.sym_size(0), "Input batch size ", input.sym_size(0), " doesn't match hidden",
              label, " batch size ", hx.sym_size(0));
  TORCH_CHECK(hx.sym_size(1) == w_hh.sym_size(1), "hidden", label, " has inconsistent hidden_size: got ",
              hx.sym_size(1), ", expected ", w_hh.sym_size(1));
}
inline void check_cell_weights(const at::Tensor& w_ih, const at::Tensor& w_hh, int gates) {
  const c10::SymInt rows = gates * w_hh.sym_size(1);
  TORCH_CHECK(w_ih.sym_size(0) == rows, "weight_ih first dim must be ", gates, " * hidden_size = ", rows, ", but got ",
              w_ih.sym_size(0));
  TORCH_CHECK(w_hh.sym_size(0) == rows, "weight_hh first dim must be ", gates, " * hidden_size = ", rows, ", but got ",
              w_hh.sym_size(0));
}

}  // namespace aee
