// AtenOp: an Op together with how PyTorch calls it: its handle and what its schema says of each argument.
// Made once per operator at registration, never freed, immutable; any thread may read it.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <memory>
#include <vector>

#include "ir/op.h"

namespace aee {

/// How a step runs on CPU tensors: decodes the words and calls the CPU's kernel.
struct StepRun;
using Invoke = void (*)(StepRun& run);
/// Makes what runs the op's steps of one key again and again; see pointwise.h.
class PreparedKernel;
using Prepare = std::unique_ptr<PreparedKernel> (*)();

struct AtenOp : Op {
  explicit AtenOp(const c10::OperatorHandle& operator_handle) : handle(operator_handle) {}

  c10::OperatorHandle handle;
  Invoke invoke = nullptr;
  Prepare prepare = nullptr;      ///< null: steps are always invoked
  std::vector<bool> written;      ///< per argument: the schema says that it is written
  std::vector<bool> generator;    ///< per argument: it is a Generator
  bool draws_implicitly = false;  ///< draws from the default generator, which is not among its arguments
};

/// The AtenOp of an operator; made at the first call. `invoke`: its typed runner, or null for the boxed one.
AtenOp& register_aten_op(const c10::OperatorHandle& handle, Invoke invoke);

}  // namespace aee
