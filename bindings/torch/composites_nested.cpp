// nn.TransformerEncoder in inference, with a padding mask: on the CPU it packs the batch into a nested tensor, runs the
// layers on that and pads the result, which gives other numbers than layers that see the padding. This file carries
// such tensors between those three operators; for everything else nested tensors are refused (composites_refusals.cpp).
#include "bindings/torch/composites.h"
#include "bindings/torch/composites_host.h"

namespace aee {

void install_nested_encoder_input(torch::Library& library) {
  library.impl("_nested_tensor_from_mask", torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
}

void install_nested_encoder(torch::Library& library) {
  library.impl("_transformer_encoder_layer_fwd", torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
  library.impl("to_padded_tensor", torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
}

}  // namespace aee
