#include "lowering/aten/decode.h"

#include <complex>
#include <cstring>

#include <ATen/core/ivalue.h>

#include "core/base/error.h"

namespace aee {
namespace {

using c10::IValue;
using c10::TypeKind;

const c10::Type& element_or_self(const c10::TypePtr& type) {
  return type->kind() == TypeKind::OptionalType ? *type->castRaw<c10::OptionalType>()->getElementType() : *type;
}

IValue decode_integers(StepRun& run, const Head& head) {
  c10::List<std::int64_t> list;
  list.reserve(head.count);
  const std::uint64_t* values = run.reader.skip(head.count);
  for (std::size_t i = 0; i < head.count; ++i) list.push_back(static_cast<std::int64_t>(values[i]));
  return list;
}

IValue decode_reals(StepRun& run, const Head& head) {
  c10::List<double> list;
  const std::uint64_t* values = run.reader.skip(head.count);
  for (std::size_t i = 0; i < head.count; ++i) list.push_back(std::bit_cast<double>(values[i]));
  return list;
}

IValue decode_booleans(StepRun& run) {
  const Head head = run.reader.head();
  c10::List<bool> list;
  for (std::size_t i = 0; i < head.count; ++i) list.push_back(Decode<bool>(run).get());
  return list;
}

IValue decode_scalars(StepRun& run) {
  const Head head = run.reader.head();
  std::vector<IValue> values;
  for (std::size_t i = 0; i < head.count; ++i) values.emplace_back(decode_scalar(run, run.reader.head()));
  c10::impl::GenericList list(c10::NumberType::get());
  for (IValue& value : values) list.push_back(std::move(value));
  return list;
}

IValue decode_tensor_list(StepRun& run, const c10::Type& type) {
  const auto* list = type.castRaw<c10::ListType>();
  if (list != nullptr && list->getElementType()->kind() == TypeKind::OptionalType) return decode_optional_tensors(run);
  return c10::List<at::Tensor>(at::TensorList(decode_tensors(run)));
}

IValue decode_argument(StepRun& run, const c10::Type& type) {
  switch (run.reader.peek().tag) {
    case Tag::kTensor:
    case Tag::kHostScalar:
    case Tag::kUndefined: {
      OperandTensor operand = decode_tensor(run);
      return IValue(at::Tensor(operand.get()));
    }
    case Tag::kTensorList:
      return decode_tensor_list(run, type);
    case Tag::kScalarList:
      return decode_scalars(run);
    case Tag::kBoolList:
      return decode_booleans(run);
    case Tag::kString:
      return IValue(std::string(Decode<std::string_view>(run).get()));
    default:
      break;
  }
  const Head head = run.reader.head();
  switch (head.tag) {
    case Tag::kNone:
      return IValue();
    case Tag::kInt:
      return IValue(static_cast<std::int64_t>(run.reader.word()));
    case Tag::kDouble:
      return IValue(std::bit_cast<double>(run.reader.word()));
    case Tag::kBool:
      return IValue(run.reader.word() != 0);
    case Tag::kIntList:
      return decode_integers(run, head);
    case Tag::kDoubleList:
      return decode_reals(run, head);
    case Tag::kDevice:
      return IValue(at::Device(at::kCPU));
    case Tag::kGenerator:
      return IValue(decode_generator(run, head));
    default:
      return IValue(decode_scalar(run, head));
  }
}

// Note [Numbers beside floats]
// TensorIterator casts a Python number to the common dtype with an operator call that costs more than a small kernel.
// Beside a float32 tensor that dtype is float32, so the number comes as one: the same cast, by the same instruction.
// Half types are left alone: there some kernels read the number before the cast.
bool beside_float(const StepRun& run) {
  StepReader reader(run.key, nullptr);
  Head head = reader.head();
  if (head.tag == Tag::kHostScalar) {
    reader.skip(1);
    head = reader.head();
  }
  return head.tag == Tag::kTensor && head.dtype == static_cast<std::uint8_t>(at::kFloat) &&
         (head.flags & kWrappedNumber) == 0;
}

void take_results(StepRun& run, torch::jit::Stack& stack) {
  for (IValue& value : stack) {
    if (value.isTensor()) {
      run.results.push_back(std::move(value).toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) run.results.push_back(tensor);
    } else {
      run.results.emplace_back();  // None
    }
  }
}

}  // namespace

at::Tensor decode_host_scalar(StepRun& run, const Head& head) {
  const std::uint64_t* const bytes = run.reader.params(2);
  run.reader.skip(1);  // its class
  const bool wrapped = (head.flags & kWrappedNumber) != 0;
  const auto dtype = static_cast<at::ScalarType>(head.dtype);
  if (wrapped && dtype == at::kDouble && run.op.has(kCastsNumbers) && beside_float(run)) {
    std::uint64_t cast[2] = {0, 0};
    const auto value = static_cast<float>(std::bit_cast<double>(bytes[0]));
    std::memcpy(cast, &value, sizeof value);
    return make_host_scalar(at::kFloat, wrapped, cast);
  }
  return make_host_scalar(dtype, wrapped, bytes);
}

at::Scalar decode_scalar(StepRun& run, const Head& head) {
  std::uint64_t word = 0, second = 0;
  if (run.op.has(kScalarsAreData)) {
    run.reader.skip(1);  // its class
    word = run.reader.param();
    if (head.tag == Tag::kScalarComplex) second = run.reader.param();
  } else {
    word = run.reader.word();
    second = run.reader.word();
  }
  switch (head.tag) {
    case Tag::kScalarInt:
      return at::Scalar(static_cast<std::int64_t>(word));
    case Tag::kScalarBool:
      return at::Scalar(word != 0);
    case Tag::kScalarComplex:
      return at::Scalar(c10::complex<double>(std::bit_cast<double>(word), std::bit_cast<double>(second)));
    default:
      return at::Scalar(std::bit_cast<double>(word));
  }
}

at::Generator decode_generator(StepRun& run, const Head& head) {
  auto* impl = static_cast<c10::GeneratorImpl*>(run.slots[head.count]->backing().object);
  return at::Generator(c10::intrusive_ptr<c10::GeneratorImpl>::unsafe_reclaim_from_nonowning(impl));
}

std::vector<at::Tensor> decode_tensors(StepRun& run) {
  const Head head = run.reader.head();
  std::vector<at::Tensor> tensors;
  tensors.reserve(head.count);
  for (std::size_t i = 0; i < head.count; ++i) {
    OperandTensor operand = decode_tensor(run);
    tensors.push_back(operand.get());
  }
  return tensors;
}

c10::List<std::optional<at::Tensor>> decode_optional_tensors(StepRun& run) {
  const Head head = run.reader.head();
  c10::List<std::optional<at::Tensor>> list;
  list.reserve(head.count);
  for (std::size_t i = 0; i < head.count; ++i) {
    const bool absent = run.reader.peek().tag == Tag::kNone;
    OperandTensor operand = decode_tensor(run);
    list.push_back(absent ? std::optional<at::Tensor>() : std::optional<at::Tensor>(operand.get()));
  }
  return list;
}

void invoke_boxed(StepRun& run) {
  const c10::FunctionSchema& schema = run.op.handle.schema();
  torch::jit::Stack stack;
  stack.reserve(schema.arguments().size());
  for (const c10::Argument& argument : schema.arguments()) {
    stack.push_back(decode_argument(run, element_or_self(argument.real_type())));
  }
  run.op.handle.redispatchBoxed(kCpuKeys, &stack);
  take_results(run, stack);
}

}  // namespace aee
