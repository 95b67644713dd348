// Composites: operators without a kernel of their own whose PyTorch implementation looks at the device and would not
// do on `neuron` what it does on the CPU. Each file replaces some of them with a composite of differentiable operators
// that makes the CPU's choice, so that forward and backward have the CPU's bits; the operators it calls are recorded
// like any other. composites_autocast.cpp registers itself: its key is no other file's.
//
// register.cpp calls the functions, each for the keys that it names. Nothing here has state or owns anything; the
// kernels run on the calling thread.
#pragma once

#include <torch/library.h>

namespace aee {

// For PrivateUse1 and for AutogradPrivateUse1: a composite under the first key only would cut the graph (gradients
// would be missing), under the second only it would be lost in inference mode.

/// dropout: the CPU draws with bernoulli_ and multiplies, other devices call native_dropout.
void install_dropout(torch::Library& library);
/// lstm, lstm_cell: oneDNN or the CPU's cells, never fused cells.
void install_lstm(torch::Library& library);
/// gru, rnn_tanh, rnn_relu, gru_cell: the CPU's cells, never fused cells.
void install_recurrent(torch::Library& library);
/// quantile, nanquantile, one_hot: the CPU's checks of values.
void install_value_checks(torch::Library& library);
/// What would make a sparse or a nested tensor of the device's memory raises NotImplementedError.
void install_refusals(torch::Library& library);

// For AutogradPrivateUse1.

/// native_group_norm: the backward of channels-last inputs keeps their memory format.
void install_group_norm(torch::Library& library);

/// For AutogradPrivateUse1 only: max_pool1d, which the boxed recorder runs whole below it.
void install_pool(torch::Library& library);

// For PrivateUse1: these are no composites.

/// The choice of scaled_dot_product_attention.
void install_attention(torch::Library& library);
/// histc, which counts integers too here.
void install_histc(torch::Library& library);
/// dot and vdot, which take tensors without memory.
void install_zero_products(torch::Library& library);
/// The nested tensors inside nn.TransformerEncoder: what makes them.
void install_nested_encoder_input(torch::Library& library);

/// For SparseCsrPrivateUse1: zeros and copies to the device, which ask nobody for memory.
void install_sparse_refusals(torch::Library& library);
/// For NestedTensorPrivateUse1: what reads the nested tensors inside nn.TransformerEncoder.
void install_nested_encoder(torch::Library& library);

}  // namespace aee
