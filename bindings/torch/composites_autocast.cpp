// Autocast: the CPU's policies, so that a program under torch.autocast("neuron", dtype) has the bits of the same
// program under torch.autocast("cpu", dtype). PyTorch's shared lists are CUDA's policies and do not fit; the lists here
// are what the CPU registers, and a test compares them with the dispatcher.
#include <ATen/Operators.h>
#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace {

// Operators that run in the type that the user chose.
// clang-format off: it does not settle on these lists
#define AEE_LOWER_PRECISION(_)                                                                                  \
  _(conv1d)                                                                                                     \
  _(conv1d, padding)                                                                                            \
  _(conv2d)                                                                                                     \
  _(conv2d, padding)                                                                                            \
  _(conv3d) _(conv3d, padding) _(bmm) _(mm) _(linalg_vecdot) _(baddbmm) _(addmm) _(_addmm_activation) _(addbmm) \
      _(linear) _(_convolution, deprecated) _(matmul) _(conv_tbc) _(mkldnn_rnn_layer) _(conv_transpose1d)       \
          _(conv_transpose2d, input) _(conv_transpose3d, input) _(prelu) _(scaled_dot_product_attention)        \
              _(_native_multi_head_attention)

// Operators that run in float32.
#define AEE_FLOAT32_MATH(_)                                                                                   \
  _(polar)                                                                                                    \
  _(prod)                                                                                                     \
  _(prod, dim_int)                                                                                            \
  _(quantile)                                                                                                 \
  _(quantile, scalar) _(nanquantile) _(nanquantile, scalar) _(stft) _(stft, center) _(cdist) _(trace)         \
      _(view_as_complex) _(fft_fft) _(fft_ifft) _(fft_fft2) _(fft_ifft2) _(fft_fftn) _(fft_ifftn) _(fft_rfft) \
          _(fft_irfft) _(fft_rfft2) _(fft_irfft2) _(fft_rfftn) _(fft_irfftn) _(fft_hfft) _(fft_ihfft)         \
              _(fake_quantize_per_tensor_affine)
#define AEE_FLOAT32_LINALG(_)                                                                                          \
  _(cholesky)                                                                                                          \
  _(cholesky_inverse)                                                                                                  \
  _(cholesky_solve)                                                                                                    \
  _(inverse)                                                                                                           \
  _(lu_solve) _(orgqr) _(ormqr) _(pinverse) _(linalg_cond) _(linalg_cond, p_str) _(linalg_matrix_rank)                 \
      _(linalg_matrix_rank, tol_tensor) _(linalg_matrix_rank, atol_rtol_tensor) _(linalg_matrix_rank, atol_rtol_float) \
          _(linalg_solve) _(linalg_cholesky) _(linalg_svdvals) _(linalg_eigvals) _(linalg_eigvalsh) _(linalg_inv)      \
              _(linalg_householder_product) _(linalg_tensorinv) _(linalg_tensorsolve) _(geqrf) _(_lu_with_info) _(qr)  \
                  _(svd) _(triangular_solve) _(linalg_qr) _(linalg_cholesky_ex) _(linalg_svd) _(linalg_eig)            \
                      _(linalg_eigh) _(linalg_lstsq) _(linalg_inv_ex)
#define AEE_FLOAT32_LAYERS(_)                                                                                        \
  _(avg_pool3d)                                                                                                      \
  _(grid_sampler)                                                                                                    \
  _(grid_sampler_2d)                                                                                                 \
  _(_grid_sampler_2d_cpu_fallback)                                                                                   \
  _(grid_sampler_3d) _(max_pool3d) _(max_unpool2d) _(max_unpool3d) _(adaptive_avg_pool3d) _(adaptive_max_pool3d)     \
      _(fractional_max_pool2d) _(fractional_max_pool3d) _(reflection_pad1d) _(reflection_pad2d) _(replication_pad1d) \
          _(replication_pad2d) _(replication_pad3d)
#define AEE_FLOAT32_LOSSES(_)                                                                                  \
  _(binary_cross_entropy)                                                                                      \
  _(mse_loss)                                                                                                  \
  _(cosine_embedding_loss)                                                                                     \
  _(nll_loss)                                                                                                  \
  _(nll_loss2d) _(hinge_embedding_loss) _(poisson_nll_loss) _(smooth_l1_loss) _(cross_entropy_loss) _(l1_loss) \
      _(huber_loss) _(margin_ranking_loss) _(soft_margin_loss) _(triplet_margin_loss) _(multi_margin_loss)     \
          _(ctc_loss, IntList) _(ctc_loss, Tensor) _(kl_div) _(multilabel_margin_loss)                         \
              _(multilabel_margin_loss_forward) _(binary_cross_entropy_with_logits)

// Operators on several tensors that run in the widest type among them.
#define AEE_PROMOTE(_) _(stack) _(cat) _(index_copy)

#define AEE_AS_LOWER_PRECISION(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define AEE_AS_FLOAT32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define AEE_AS_PROMOTED(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
// clang-format on

}  // namespace

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, library) { library.fallback(torch::CppFunction::makeFallthrough()); }

// The macros of autocast_mode.h call their library m.
TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
  AEE_LOWER_PRECISION(AEE_AS_LOWER_PRECISION)
  AEE_FLOAT32_MATH(AEE_AS_FLOAT32)
  AEE_FLOAT32_LINALG(AEE_AS_FLOAT32)
  AEE_FLOAT32_LAYERS(AEE_AS_FLOAT32)
  AEE_FLOAT32_LOSSES(AEE_AS_FLOAT32)
  AEE_PROMOTE(AEE_AS_PROMOTED)
}
