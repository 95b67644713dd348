// The typed kernels of the op table.
#include <ATen/MetaFunctions.h>
#include <ATen/Operators.h>

#include "bindings/torch/typed.h"

namespace aee {

void install_typed(torch::Library& library) {
#define AEE_TYPED(symbol, name, traits) Typed<at::_ops::symbol>::install(library);
#define AEE_STRUCTURED(symbol, function, name, traits) \
  Typed<at::_ops::symbol>::install_structured(library, &at::meta::function);
#include "ir/ops.inc"
  Typed<at::_ops::copy_>::prepare();
}

}  // namespace aee
