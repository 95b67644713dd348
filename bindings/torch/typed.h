// Typed kernels: one template over at::_ops::NAME gives an operator its recorder and its runner. The recorder encodes
// the C++ arguments, looks the step up and launches it; the runner decodes them on the device thread and calls the
// CPU's kernel. No boxing on the hit path.
#pragma once

#include <tuple>
#include <utility>

#include <ATen/core/boxing/impl/boxing.h>
#include <torch/library.h>

#include "bindings/torch/emit.h"
#include "bindings/torch/inline_call.h"
#include "bindings/torch/layouts.h"
#include "lowering/aten/decode.h"

namespace aee {

namespace detail {

/// The argument that an in-place or out operator returns: the last one that is a mutable tensor.
inline at::Tensor* written_argument() { return nullptr; }
template <class First, class... Rest>
at::Tensor* written_argument(First& first, Rest&... rest) {
  at::Tensor* later = written_argument(rest...);
  if constexpr (std::is_same_v<First, at::Tensor>) {
    return later != nullptr ? later : &first;
  } else {
    return later;
  }
}

template <class R>
struct Returns;
template <>
struct Returns<at::Tensor> {
  static at::Tensor make(Emission& emission) { return emission.result(0); }
  static void collect(StepRun& run, at::Tensor&& result) { run.results.push_back(std::move(result)); }
};
template <class... T>
struct Returns<std::tuple<T...>> {
  static std::tuple<T...> make(Emission& emission) { return make(emission, std::index_sequence_for<T...>()); }
  static void collect(StepRun& run, std::tuple<T...>&& results) {
    std::apply([&run](auto&&... result) { (run.results.push_back(std::move(result)), ...); }, std::move(results));
  }

 private:
  template <std::size_t... I>
  static std::tuple<T...> make(Emission& emission, std::index_sequence<I...>) {
    return std::tuple<T...>(emission.result(I)...);
  }
};

}  // namespace detail

template <class Op, class Schema = typename Op::schema>
struct Typed;

template <class Op, class R, class... A>
struct Typed<Op, R(A...)> {
  using Shape = R (*)(A...);
  static inline const AtenOp* op = nullptr;
  static inline Shape shape = nullptr;  ///< of a structured operator: its shape function, for meta tensors

  static R record(A... args) {
    RecordFrame frame(*op);
    (encode_argument(frame, args), ...);
    LayoutEntry* layouts = find_layouts(frame, [&] { encode_again(frame, args...); });
    if (layouts == nullptr) [[unlikely]]
      return miss(frame, args...);
    return emit(frame, *layouts, args...);
  }

  static void invoke(StepRun& run) {
    // Braces fix the order in which the holders read their arguments.
    std::tuple<Decode<std::decay_t<A>>...> holders{Decode<std::decay_t<A>>(run)...};
    std::apply(
        [&run](auto&... holder) {
          if constexpr (std::is_same_v<R, at::Tensor&>) {
            Op::redispatch(kCpuKeys, holder.get()...);
          } else {
            detail::Returns<R>::collect(run, Op::redispatch(kCpuKeys, holder.get()...));
          }
        },
        holders);
  }

  /// Makes the operator recordable without giving it a kernel of the device.
  static void prepare() {
    op = &register_aten_op(c10::Dispatcher::singleton().findSchemaOrThrow(Op::name, Op::overload_name), &invoke);
  }
  /// Registers the operator with the device.
  static void install(torch::Library& library) {
    prepare();
    const std::string name =
        *Op::overload_name == '\0' ? std::string(Op::name) : std::string(Op::name) + "." + Op::overload_name;
    library.impl(name.c_str(), &record);
  }
  /// As install(). With its shape function the layouts of new sizes need no run: Note [Inferred layouts].
  static void install_structured(torch::Library& library, Shape function) {
    shape = function;
    install(library);
  }

 private:
  static void encode_again(RecordFrame& frame, A... args) {
    frame.restart();
    (encode_argument(frame, args), ...);
  }

  static R emit(RecordFrame& frame, LayoutEntry& layouts, A&... args) {
    Emission emission(frame, layouts);
    if constexpr (std::is_same_v<R, at::Tensor&>) {
      return *detail::written_argument(args...);
    } else {
      return detail::Returns<R>::make(emission);
    }
  }

  [[gnu::noinline]] static R miss(RecordFrame& frame, A... args) {
    std::vector<ResultSpec> told;
    if (!op->has(kMayFail)) {
      if (shape != nullptr) {
        using Result = std::decay_t<R>;  // a reference would outlive the twins
        told = told_layouts(frame, [&]() -> Result { return shape(MetaTwin<std::decay_t<A>>(args).get()...); });
      }
      LayoutEntry* inferred = nullptr;
      if constexpr (std::is_same_v<R, at::Tensor&>) {
        inferred = infer_in_place(frame, *detail::written_argument(args...), !told.empty());
        told.clear();
      } else {
        inferred = infer_layouts(frame, told);
      }
      if (inferred != nullptr) return emit(frame, *inferred, args...);
    }
    torch::jit::Stack stack;
    stack.reserve(sizeof...(A));
    (stack.emplace_back(args), ...);
    call_inline(frame, stack, told);
    if constexpr (std::is_same_v<R, at::Tensor&>) {
      return *detail::written_argument(args...);
    } else {
      return c10::impl::PopResult<R>::call(stack);
    }
  }
};

/// Registers the rows of the op table.
void install_typed(torch::Library& library);

}  // namespace aee
