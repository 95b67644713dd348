#include "lowering/aten/aten_op.h"

#include <deque>
#include <mutex>

#include "lowering/aten/pointwise.h"
#include "lowering/aten/step_run.h"

namespace aee {
namespace {

Traits schema_traits(const c10::OperatorHandle& handle) {
  const c10::FunctionSchema& schema = handle.schema();
  Traits traits = kPlain;
  if (handle.hasTag(at::Tag::nondeterministic_seeded)) traits |= kDraws;
  if (handle.hasTag(at::Tag::dynamic_output_shape) || handle.hasTag(at::Tag::data_dependent_output)) traits |= kDynamic;
  for (const c10::Argument& argument : schema.returns()) {
    const c10::TypePtr& type = argument.type();
    const bool tensors = type->kind() == c10::TypeKind::TensorType || type->isSubtypeOf(*c10::ListType::ofTensors());
    if (!tensors) traits |= kInline;
  }
  // Operators that are not PyTorch's own promise nothing about their results.
  if (handle.operator_name().getNamespace() != "aten") traits |= kDynamic;
  return traits;
}

bool is_generator(const c10::Type& type) {
  if (type.kind() == c10::TypeKind::OptionalType)
    return is_generator(*type.castRaw<c10::OptionalType>()->getElementType());
  return type.kind() == c10::TypeKind::GeneratorType;
}

// Where operators live: for good, because launches in flight refer to them when the dispatcher lets go of its kernels.
AtenOp& make_op(const c10::OperatorHandle& handle) {
  static std::mutex mutex;  // guards ops
  static auto* const ops = new std::deque<AtenOp>;
  const std::lock_guard guard(mutex);
  AtenOp& op = ops->emplace_back(handle);
  op.id = static_cast<std::uint32_t>(ops->size());
  return op;
}

}  // namespace

AtenOp& register_aten_op(const c10::OperatorHandle& handle, Invoke invoke) {
  AtenOp* const op = &make_op(handle);
  op->name = c10::toString(handle.operator_name());
  op->traits = schema_traits(handle);
  if (const OpRow* row = find_op_row(op->name)) {
    // A row knows better than the tag when only masks make an op dynamic.
    if ((row->traits & kDynamicForMasks) != 0) op->traits &= ~Traits{kDynamic};
    op->traits |= row->traits;
  }
  op->invoke = invoke != nullptr ? invoke : &invoke_boxed;
  op->prepare = pointwise_kernel(op->name);
  bool takes_generator = false;
  for (const c10::Argument& argument : handle.schema().arguments()) {
    op->written.push_back(argument.alias_info() != nullptr && argument.alias_info()->isWrite());
    op->generator.push_back(is_generator(*argument.real_type()));
    takes_generator |= op->generator.back();
  }
  if (takes_generator) op->traits |= kDraws;
  op->draws_implicitly = op->has(kDraws) && !takes_generator;
  if (op->draws_implicitly) op->traits |= kInline;
  return *op;
}

}  // namespace aee
