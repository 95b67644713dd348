#include "bindings/torch/record.h"

#include <bit>
#include <cstring>

#include <ATen/ops/_local_scalar_dense_native.h>

#include "bindings/torch/generator.h"

namespace aee {
namespace {

std::uint64_t class_of(const at::Scalar& scalar) {
  if (scalar.isBoolean()) return scalar.toBool() ? 0x21 : 0x20;
  if (scalar.isIntegral(/*includeBool=*/false)) return integer_class(scalar.toLong());
  if (scalar.isFloatingPoint()) return real_class(scalar.toDouble());
  const auto value = scalar.toComplexDouble();
  return 0x40 ^ real_class(value.real()) ^ real_class(value.imag()) << 20;
}

// Python's numbers come as double and int64.
std::uint64_t class_of_host_scalar(const at::Tensor& tensor, const std::uint64_t (&bytes)[2]) {
  if (tensor.scalar_type() == at::kDouble) return real_class(std::bit_cast<double>(bytes[0]));
  if (tensor.scalar_type() == at::kLong) return integer_class(static_cast<std::int64_t>(bytes[0]));
  return class_of(at::native::_local_scalar_dense_cpu(tensor));
}

[[noreturn]] void fail_devices(const at::Device& one, const at::Device& other) {
  TORCH_CHECK(false, "Expected all tensors to be on the same device, but found at least two devices, ", one, " and ",
              other, "!");
}

// A 0-dim host tensor travels by value, as eager accelerators take it; it may change after the call.
void encode_host_tensor(RecordFrame& frame, const at::Tensor& tensor) {
  const bool plain = tensor.dim() == 0 && tensor.layout() == at::kStrided && !tensor.is_conj() && !tensor.is_neg() &&
                     tensor.element_size() <= 16 && tensor.is_cpu();
  const bool written = frame.op.written[frame.argument];
  if (!plain || written) {
    if (frame.op.has(kCpuIndices | kDynamic) && tensor.is_cpu() && !written) {
      frame.recordable = false;
      return;
    }
    const auto index = static_cast<at::DeviceIndex>(frame.device_or_current());
    if (tensor.is_meta() && tensor.dim() != 0) frame.recordable = false;
    fail_devices(at::Device(at::DeviceType::PrivateUse1, index), tensor.device());
  }
  std::uint64_t bytes[2] = {0, 0};
  std::memcpy(bytes, tensor.const_data_ptr(), tensor.element_size());
  const bool number = tensor.unsafeGetTensorImpl()->is_wrapped_number();
  frame.step.host_scalar(static_cast<std::uint8_t>(tensor.scalar_type()), number ? kWrappedNumber : 0, bytes,
                         class_of_host_scalar(tensor, bytes));
}

void note_mask(RecordFrame& frame, const at::Tensor& tensor) {
  const at::ScalarType dtype = tensor.scalar_type();
  if (dtype == at::kBool || dtype == at::kByte) frame.list_of_masks = true;
}

void encode_list(RecordFrame& frame, const c10::IValue& value) {
  if (value.isIntList()) {
    const auto values = value.toIntVector();
    frame.step.integers(values);
  } else if (value.isDoubleList()) {
    const auto values = value.toDoubleVector();
    frame.step.reals(values);
  } else if (value.isBoolList()) {
    const auto values = value.toBoolList();
    frame.step.list(Tag::kBoolList, values.size());
    for (const bool one : values) frame.step.boolean(one);
  } else {
    const c10::ArrayRef<c10::IValue> values = value.toListRef();
    const bool scalars = !values.empty() && values[0].isScalar();
    frame.step.list(scalars ? Tag::kScalarList : Tag::kTensorList, values.size());
    for (const c10::IValue& one : values) {
      if (scalars && one.isScalar()) {
        encode_scalar(frame, one.toScalar());
      } else if (one.isTensor() || one.isNone()) {
        encode_value(frame, one);
      } else {
        frame.recordable = false;
      }
    }
  }
}

}  // namespace

void encode_tensor(RecordFrame& frame, const at::Tensor& tensor) {
  if (!tensor.defined()) {
    frame.step.undefined();
    return;
  }
  at::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (!impl->is_privateuseone()) {
    encode_host_tensor(frame, tensor);
    return;
  }
  const int index = impl->device().index();
  if (frame.device != index) {
    if (frame.device >= 0) {
      fail_devices(at::Device(at::DeviceType::PrivateUse1, static_cast<at::DeviceIndex>(frame.device)), impl->device());
    }
    frame.device = index;
  }
  if (frame.op.has(kDynamicForMasks)) note_mask(frame, tensor);
  std::uint8_t flags = 0;
  if (impl->is_conj()) flags |= kConjugate;
  if (impl->is_neg()) flags |= kNegative;
  if (impl->is_wrapped_number()) flags |= kWrappedNumber;
  if (frame.op.written[frame.argument]) flags |= kWritten;
  if (frame.op.has(kNeedsGrad) && impl->requires_grad()) flags |= kRequiresGrad;
  const StoragePlace place = place_of(*impl->unsafe_storage().unsafeGetStorageImpl());
  const at::IntArrayRef sizes = impl->sizes();
  const std::int64_t shift =
      place.byte_offset == 0 ? 0 : place.byte_offset / static_cast<std::int64_t>(impl->itemsize());
  frame.step.tensor(place.buffer,
                    {static_cast<std::uint8_t>(tensor.scalar_type()), flags, static_cast<std::uint8_t>(sizes.size()),
                     impl->storage_offset() + shift, sizes.data(), impl->strides().data()});
  frame.tensors.push_back(impl);
}

void encode_scalar(RecordFrame& frame, const at::Scalar& scalar) {
  if (scalar.isSymbolic()) {
    frame.recordable = false;
  } else if (scalar.isBoolean()) {
    frame.step.scalar(Tag::kScalarBool, scalar.toBool() ? 1 : 0, 0, class_of(scalar));
  } else if (scalar.isIntegral(/*includeBool=*/false)) {
    frame.step.scalar(Tag::kScalarInt, static_cast<std::uint64_t>(scalar.toLong()), 0, class_of(scalar));
  } else if (scalar.isFloatingPoint()) {
    frame.step.scalar(Tag::kScalarDouble, std::bit_cast<std::uint64_t>(scalar.toDouble()), 0, class_of(scalar));
  } else {
    const auto value = scalar.toComplexDouble();
    frame.step.scalar(Tag::kScalarComplex, std::bit_cast<std::uint64_t>(value.real()),
                      std::bit_cast<std::uint64_t>(value.imag()), class_of(scalar));
  }
}

void encode_generator(RecordFrame& frame, const std::optional<at::Generator>& generator) {
  frame.step.generator(generator_state(generator, frame.device_or_current()));
}

void encode_device(RecordFrame& frame, at::Device device) {
  if (device.type() == at::DeviceType::PrivateUse1) {
    if (frame.device < 0) frame.device = device.has_index() ? device.index() : frame.thread.device;
    frame.step.device();
  } else {
    frame.recordable = false;
  }
}

void encode_value(RecordFrame& frame, const c10::IValue& value) {
  if (value.isTensor()) {
    encode_tensor(frame, value.toTensor());
  } else if (value.isInt()) {
    frame.step.integer(value.toInt());
  } else if (value.isBool()) {
    frame.step.boolean(value.toBool());
  } else if (value.isDouble()) {
    frame.step.real(value.toDouble());
  } else if (value.isComplexDouble()) {
    encode_scalar(frame, value.toScalar());
  } else if (value.isString()) {
    frame.step.string(value.toStringRef());
  } else if (value.isDevice()) {
    encode_device(frame, value.toDevice());
  } else if (value.isGenerator()) {
    encode_generator(frame, value.toGenerator());
  } else if (value.isList()) {
    encode_list(frame, value);
  } else if (value.isNone()) {
    frame.step.none();
  } else {
    frame.recordable = false;
  }
}

}  // namespace aee
