#include "bindings/torch/composites.h"

namespace aee {
namespace {

// Note [Early refusals]
// ATen makes compressed sparse and nested tensors on any device without asking it, out of dense ones. Nothing could be
// done with them afterwards, so the operators through which all their constructors go refuse here. Other kinds (sparse
// coordinates, quantized) ask for memory under a key of their own and are refused there (register.cpp).

template <const char* kind>
void refuse_kind(const c10::OperatorHandle& handle, torch::jit::Stack* /*stack*/) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "Could not run '", handle.operator_name(), "' on the device neuron: it has no ",
                              kind, " tensors; make them on the CPU");
}

constexpr char kSparse[] = "sparse";
constexpr char kNested[] = "nested (the layout torch.jagged works)";

}  // namespace

void install_refusals(torch::Library& library) {
  for (const char* name :
       {"_sparse_compressed_tensor_unsafe", "_sparse_csr_tensor_unsafe", "_sparse_csc_tensor_unsafe",
        "_sparse_bsr_tensor_unsafe", "_sparse_bsc_tensor_unsafe", "sparse_compressed_tensor.comp_plain_value_size",
        "sparse_compressed_tensor.comp_plain_value", "sparse_csr_tensor.crow_col_value_size",
        "sparse_csr_tensor.crow_col_value", "sparse_csc_tensor.ccol_row_value_size", "sparse_csc_tensor.ccol_row_value",
        "sparse_bsr_tensor.crow_col_value_size", "sparse_bsr_tensor.crow_col_value",
        "sparse_bsc_tensor.ccol_row_value_size", "sparse_bsc_tensor.ccol_row_value",
        "_sparse_compressed_tensor_with_dims"}) {
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&refuse_kind<kSparse>>());
  }
  for (const char* name : {"_nested_tensor_from_tensor_list", "_nested_view_from_buffer", "_nested_from_padded"}) {
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&refuse_kind<kNested>>());
  }
}

void install_sparse_refusals(torch::Library& library) {
  for (const char* name : {"zeros", "_to_copy"}) {
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&refuse_kind<kSparse>>());
  }
}

}  // namespace aee
