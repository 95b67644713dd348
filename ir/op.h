// Op: what the engine knows of one operator. Operators of the op table (ops.inc) carry the table's traits; every other
// operator gets an Op when it is first registered, with the traits that its schema tells.
//
// Ops live as long as the process; a reference to one never dangles. Immutable after registration, so any thread may
// read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace aee {

/// What is special about an op; a set of bits.
enum Trait : std::uint32_t {
  kPlain = 0,
  kDynamic = 1u << 0,          ///< layouts of results depend on values: always runs at the call
  kMayFail = 1u << 1,          ///< values can make it raise: keeps its source line, is never dropped
  kDraws = 1u << 2,            ///< consumes random numbers: keeps program order with all other draws of its generator
  kScalarsAreData = 1u << 3,   ///< Scalar arguments change values only: keyed by class, not by value
  kDynamicForMasks = 1u << 4,  ///< kDynamic only if a bool or uint8 tensor is among its list operands
  kCpuIndices = 1u << 5,       ///< accepts host tensors as indices
  kInline = 1u << 6,           ///< has results other than tensors: always runs at the call
  kTyped = 1u << 7,            ///< registered by a typed kernel
  kLibrary = 1u << 9,          ///< will never fuse: a segment is better cut after it than between pointwise ops
  kCastsNumbers = 1u << 10,    ///< pointwise; of a Python number among its operands only the cast value counts
  kNeedsGrad = 1u << 8,        ///< the kernel chooses by requires_grad of its operands
};
using Traits = std::uint32_t;

struct Op {
  std::string name;      ///< schema name with overload: "aten::add.Tensor"
  std::uint32_t id = 0;  ///< dense, in order of registration
  Traits traits = kPlain;

  [[nodiscard]] bool has(Traits mask) const noexcept { return (traits & mask) != 0; }
};

/// The row of the op table for a schema name, or null.
struct OpRow {
  std::string_view name;
  Traits traits;
};
[[nodiscard]] const OpRow* find_op_row(std::string_view schema_name) noexcept;

/// All rows, in table order.
struct OpRows {
  const OpRow* first;
  std::size_t count;
};
[[nodiscard]] OpRows op_rows() noexcept;

}  // namespace aee
