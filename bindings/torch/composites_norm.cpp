// Group normalisation of channels-last tensors. Autograd's formula makes the backward's operands contiguous unless they
// are on the CPU, where they keep their memory format; the two round differently. So channels-last inputs get a node of
// their own that does what the CPU's does. Everything else takes autograd's own kernel.
#include <ATen/ops/native_group_norm_backward.h>
#include <ATen/ops/native_group_norm_ops.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include "bindings/torch/composites.h"

namespace aee {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Results = std::tuple<Tensor, Tensor, Tensor>;

struct Shape {
  std::int64_t batch, channels, spatial, groups;
  double eps;
};

// Autograd's kernel for the operator, with what the call had below it: the device's kernel, or functorch's next level.
// AutogradOther holds the same kernel as every backend's autograd key; the device's own key would lead back here.
Results differentiable(c10::DispatchKeySet keys, const Tensor& input, const std::optional<Tensor>& weight,
                       const std::optional<Tensor>& bias, const Shape& shape) {
  keys = (keys & c10::after_autograd_keyset) | c10::DispatchKeySet(c10::DispatchKey::AutogradOther);
  return at::_ops::native_group_norm::redispatch(keys, input, weight, bias, shape.batch, shape.channels, shape.spatial,
                                                 shape.groups, shape.eps);
}

std::optional<Tensor> if_defined(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt;
}

struct ChannelsLastGroupNorm : torch::autograd::Function<ChannelsLastGroupNorm> {
  static variable_list forward(AutogradContext* context, const Tensor& input, const Tensor& weight, const Tensor& bias,
                               const Shape& shape) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    auto [output, mean, rstd] =
        at::_ops::native_group_norm::call(input, if_defined(weight), if_defined(bias), shape.batch, shape.channels,
                                          shape.spatial, shape.groups, shape.eps);
    context->set_materialize_grads(false);
    context->save_for_backward({input, weight, bias, mean, rstd});
    context->saved_data["sizes"] = std::vector<std::int64_t>{shape.batch, shape.channels, shape.spatial, shape.groups};
    context->saved_data["eps"] = shape.eps;
    return {output, mean, rstd};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const std::vector<std::int64_t> sizes = context->saved_data["sizes"].toIntVector();
    const Shape shape{sizes[0], sizes[1], sizes[2], sizes[3], context->saved_data["eps"].toDouble()};
    if (c10::GradMode::is_enabled() || gradients[1].defined() || gradients[2].defined()) {
      return differentiable_backward(saved, shape, gradients);
    }
    variable_list result(4);
    if (!gradients[0].defined()) return result;
    const Tensor& input = saved[0];
    const at::MemoryFormat format = input.suggest_memory_format();
    const std::array<bool, 3> wanted{context->needs_input_grad(0), context->needs_input_grad(1),
                                     context->needs_input_grad(2)};
    std::tie(result[0], result[1], result[2]) = at::native_group_norm_backward(
        gradients[0].contiguous(format), input.contiguous(format), saved[3], saved[4], if_defined(saved[1]),
        shape.batch, shape.channels, shape.spatial, shape.groups, wanted);
    return result;
  }

 private:
  // Gradients of gradients: by autograd's own formula, from the inputs on.
  static variable_list differentiable_backward(const variable_list& saved, const Shape& shape,
                                               const variable_list& gradients) {
    const at::AutoGradMode with_graph(true);
    constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);
    const auto [output, mean, rstd] =
        differentiable(kKeys, saved[0], if_defined(saved[1]), if_defined(saved[2]), shape);
    variable_list outputs, weights, inputs, result(4);
    const Tensor all[] = {output, mean, rstd};
    for (std::size_t i = 0; i < 3; ++i) {
      if (!gradients[i].defined()) continue;
      outputs.push_back(all[i]);
      weights.push_back(gradients[i]);
    }
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < 3; ++i) {
      if (!saved[i].defined() || !saved[i].requires_grad()) continue;
      inputs.push_back(saved[i]);
      places.push_back(i);
    }
    const variable_list found = torch::autograd::grad(outputs, inputs, weights, /*retain_graph=*/true,
                                                      /*create_graph=*/true, /*allow_unused=*/true);
    for (std::size_t i = 0; i < places.size(); ++i) result[places[i]] = found[i];
    return result;
  }
};

Results native_group_norm(c10::DispatchKeySet keys, const Tensor& input, const std::optional<Tensor>& weight,
                          const std::optional<Tensor>& bias, c10::SymInt batch, c10::SymInt channels,
                          c10::SymInt spatial, std::int64_t groups, double eps) {
  const Shape shape{batch.guard_int(__FILE__, __LINE__), channels.guard_int(__FILE__, __LINE__),
                    spatial.guard_int(__FILE__, __LINE__), groups, eps};
  const auto wants_grad = [](const std::optional<Tensor>& tensor) { return tensor && tensor->requires_grad(); };
  const bool graph = c10::GradMode::is_enabled() && (input.requires_grad() || wants_grad(weight) || wants_grad(bias));
  // functorch's transforms take no nodes of others.
  const bool transformed = keys.has(c10::DispatchKey::FuncTorchDynamicLayerBackMode);
  if (!graph || transformed || input.suggest_memory_format() == at::MemoryFormat::Contiguous) {
    return differentiable(keys, input, weight, bias, shape);
  }
  const variable_list results =
      ChannelsLastGroupNorm::apply(input, weight.value_or(Tensor()), bias.value_or(Tensor()), shape);
  return {results[0], results[1], results[2]};
}

}  // namespace

void install_group_norm(torch::Library& library) { library.impl("native_group_norm", &native_group_norm); }

}  // namespace aee
