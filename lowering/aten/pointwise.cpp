#include "lowering/aten/pointwise.h"

#include <array>
#include <unordered_map>

#include <ATen/NativeFunctions.h>
#include <ATen/Operators.h>
#include <ATen/TensorIterator.h>

#include "lowering/aten/decode.h"
#include "lowering/aten/result_memory.h"
#include "lowering/aten/stand_in.h"

namespace aee {
namespace {

constexpr std::size_t kMostInputs = 4;

/// What the kernels have in common beside their types.
struct Operands {
  std::array<StandIn, kMostInputs> inputs;
  StandIn result;  ///< unused where the op writes its first operand
  std::size_t inputs_read = 0;
  bool fit = true;

  [[nodiscard]] const at::Tensor& read(StepRun& run) {
    StandIn& input = inputs[inputs_read++];
    fit = input.read(run) && fit;
    return input.tensor();
  }
};

/// The arguments of shape function and kernel, read like Decode.
template <class T>
struct Argument : Decode<T> {
  Argument(Operands&, StepRun& run) : Decode<T>(run) {}
};
template <>
struct Argument<at::Tensor> {
  const at::Tensor& held;
  Argument(Operands& operands, StepRun& run) : held(operands.read(run)) {}
  const at::Tensor& get() const noexcept { return held; }
};
template <>
struct Argument<std::optional<at::Scalar>> : Decode<std::optional<at::Scalar>> {
  Argument(Operands&, StepRun& run) : Decode<std::optional<at::Scalar>>(run) {}
  at::OptionalScalarRef get() const noexcept { return value ? at::OptionalScalarRef(*value) : at::OptionalScalarRef(); }
};

/// The iterator that Kernel is, with the protocol by which ATen's generated code makes results.
template <class Kernel>
class Iterator final : public Kernel {
 public:
  Iterator(Operands& operands, bool in_place, void* memory)
      : operands_(operands), in_place_(in_place), memory_(memory) {}

  void set_output_strided(std::int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides,
                          at::TensorOptions options) override {
    set_output_raw_strided(index, sizes, strides, options);
  }
  void set_output_raw_strided(std::int64_t index, at::IntArrayRef sizes, at::IntArrayRef strides,
                              at::TensorOptions options) override {
    if (!in_place_) {
      const at::DimVector contiguous = c10::contiguous_strides(sizes);
      operands_.result.make(options.dtype().toScalarType(), sizes, strides.empty() ? contiguous : strides, memory_,
                            /*flags=*/0);
    }
    Kernel::set_output_raw_strided(index, sizes, strides, options);
  }
  const at::Tensor& maybe_get_output(std::int64_t) override { return output().tensor(); }
  [[nodiscard]] StandIn& output() noexcept { return in_place_ ? operands_.inputs[0] : operands_.result; }

  /// After the shape function: finds out which stand-in each operand is. False if any is not one: a copy with another
  /// type, or a number that was made an operand.
  [[nodiscard]] bool match() {
    count_ = this->ntensors();
    if (static_cast<std::size_t>(count_) > order_.size()) return false;
    for (int i = 0; i < count_; ++i) {
      const at::TensorImpl* tensor = this->tensor_base(i).unsafeGetTensorImpl();
      StandIn* found = nullptr;
      if (output().tensor().unsafeGetTensorImpl() == tensor) found = &output();
      for (std::size_t k = 0; k < operands_.inputs_read; ++k) {
        if (operands_.inputs[k].tensor().unsafeGetTensorImpl() == tensor) found = &operands_.inputs[k];
      }
      if (found == nullptr || this->data_ptr(i) != found->data()) return false;
      order_[static_cast<std::size_t>(i)] = found;
    }
    return true;
  }
  void move() noexcept {
    for (int i = 0; i < count_; ++i) this->unsafe_replace_operand(i, order_[static_cast<std::size_t>(i)]->data());
  }
  /// Whether the kernel left the iterator as it was.
  [[nodiscard]] bool intact() const { return this->ntensors() == count_; }

 private:
  Operands& operands_;
  const bool in_place_;
  void* const memory_;  // of the result, when the iterator is built
  int count_ = 0;
  std::array<const StandIn*, kMostInputs + 2> order_{};
};

/// at::native::relu: a clamp_min by zero of what is not boolean, which the first sight at the call has told.
struct Relu : at::native::structured_clamp_min_out {
  using Base = at::native::structured_clamp_min_out;
  void meta(const at::Tensor& self) { Base::meta(self, 0); }
  void impl(const at::Tensor& self, const at::Tensor& out) { Base::impl(self, 0, out); }
};

/// Whether a result is what the recorder was told.
bool lies_as_told(const at::Tensor& result, const ResultSpec& spec) {
  return result.scalar_type() == static_cast<at::ScalarType>(spec.dtype) && spec.offset == 0 &&
         result.sizes() == at::IntArrayRef(spec.sizes) && result.strides() == at::IntArrayRef(spec.strides);
}

template <class Kernel, class Schema>
class Pointwise;

template <class Kernel, class R, class... A>
class Pointwise<Kernel, R(A...)> final : public PreparedKernel {
 public:
  static std::unique_ptr<PreparedKernel> make() { return std::make_unique<Pointwise>(); }

  Outcome run(StepRun& run, const LayoutEntry& layout, std::span<Buffer* const> fresh) override {
    operands_.inputs_read = 0;
    // Braces fix the order in which the arguments are read.
    std::tuple<Argument<std::decay_t<A>>...> arguments{Argument<std::decay_t<A>>(operands_, run)...};
    if (!operands_.fit) return Outcome::kUnfit;
    void* memory = nullptr;
    if constexpr (!kInPlace) {
      if (layout.results.size() != 1 || fresh.size() != 1) return Outcome::kUnfit;
      memory = make_result(*fresh[0], layout.results[0]);
      if (operands_.result.made()) operands_.result.move_to(memory);
    }
    if (iterator_ == nullptr) {
      if (!build(arguments, layout, memory)) return Outcome::kUnfit;
    } else {
      iterator_->move();
    }
    std::apply([this](auto&... argument) { iterator_->impl(argument.get()..., iterator_->output().tensor()); },
               arguments);
    return iterator_->intact() ? Outcome::kRan : Outcome::kRanLast;
  }

 private:
  static constexpr bool kInPlace = std::is_same_v<R, at::Tensor&>;

  template <class Arguments>
  bool build(Arguments& arguments, const LayoutEntry& layout, void* memory) {
    iterator_ = std::make_unique<Iterator<Kernel>>(operands_, kInPlace, memory);
    std::apply([this](auto&... argument) { iterator_->meta(argument.get()...); }, arguments);
    if (!iterator_->match()) return false;
    return kInPlace || lies_as_told(operands_.result.tensor(), layout.results[0]);
  }

  Operands operands_;
  std::unique_ptr<Iterator<Kernel>> iterator_;  // borrows the tensors of operands_
};

}  // namespace

Prepare pointwise_kernel(std::string_view op_name) {
  static const auto* const kernels = new std::unordered_map<std::string_view, Prepare>{
#define AEE_POINTWISE(symbol, function, kernel, name, traits) \
  {"aten::" name, &Pointwise<at::native::kernel, at::_ops::symbol::schema>::make},
#include "ir/ops.inc"
      {"aten::relu", &Pointwise<Relu, at::_ops::relu::schema>::make},
      {"aten::relu_", &Pointwise<Relu, at::_ops::relu_::schema>::make},
  };
  const auto found = kernels->find(op_name);
  return found == kernels->end() ? nullptr : found->second;
}

}  // namespace aee
