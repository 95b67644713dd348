// Copies: between host and device, within a device, between devices; and reading one value.
//
// Host to device never waits for the device: a source may be changed as soon as the copy returns, so its bytes are
// taken at once, into the destination if nothing uses it, else into a fresh buffer from which a recorded copy follows.
// Device to host is a sync point.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/runtime/buffer.h"

namespace aee {

/// aten::_copy_from.
at::Tensor copy_from(const at::Tensor& source, const at::Tensor& destination, bool non_blocking);
/// aten::_copy_from_and_resize.
at::Tensor copy_from_and_resize(const at::Tensor& source, const at::Tensor& destination);
/// aten::_local_scalar_dense: the value, after waiting for it.
at::Scalar local_scalar(const at::Tensor& tensor);
/// Copies bytes between buffers of one device as a recorded step.
void copy_bytes(Buffer& destination, Buffer& source, std::int64_t source_offset, std::size_t bytes);
/// A CPU tensor over a device tensor's memory, for host code that has waited for it. Valid while the tensor lives.
[[nodiscard]] at::Tensor host_view(const at::Tensor& tensor);

}  // namespace aee
