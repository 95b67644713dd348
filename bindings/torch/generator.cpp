#include "bindings/torch/generator.h"

#include <array>
#include <mutex>

#include <ATen/CPUGeneratorImpl.h>

#include "bindings/torch/default_engine.h"
#include "bindings/torch/streams.h"

namespace aee {
namespace {

void release_generator(void* object) noexcept {
  c10::raw::intrusive_ptr::decref(static_cast<c10::GeneratorImpl*>(object));
}

class NeuronGenerator final : public c10::GeneratorImpl {
 public:
  NeuronGenerator(int device, const at::Generator& inner)
      : GeneratorImpl(at::Device(at::DeviceType::PrivateUse1, static_cast<at::DeviceIndex>(device)),
                      c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        state_(translate_errors([device] { return engine().device(device).acquire(0); })) {
    c10::GeneratorImpl* impl = inner.unsafeGetGeneratorImpl();
    c10::raw::intrusive_ptr::incref(impl);
    state_->backing() = {impl, &release_generator};
  }

  void set_current_seed(std::uint64_t seed) override { settled().set_current_seed(seed); }
  void set_offset(std::uint64_t offset) override { settled().set_offset(offset); }
  std::uint64_t get_offset() const override { return settled().get_offset(); }
  std::uint64_t current_seed() const override { return settled().current_seed(); }
  std::uint64_t seed() override { return settled().seed(); }
  void set_state(const c10::TensorImpl& state) override { settled().set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return settled().get_state(); }

  [[nodiscard]] Buffer* state() const noexcept { return state_.get(); }

 private:
  NeuronGenerator* clone_impl() const override {
    return new NeuronGenerator(device().index(), at::Generator(settled().clone()));
  }
  // The CPU generator, after every draw recorded so far.
  c10::GeneratorImpl& settled() const {
    engine().device(device().index()).wait_for(*state_.get());
    return *static_cast<c10::GeneratorImpl*>(state_->backing().object);
  }

  BufferRef state_;
};

}  // namespace

const at::Generator& default_generator(int device) {
  const int index = checked_device(device);
  static auto* const generators = new std::array<at::Generator, kMaxDevices>;
  static std::mutex mutex;  // guards generators
  const std::lock_guard guard(mutex);
  at::Generator& generator = (*generators)[static_cast<std::size_t>(index)];
  if (!generator.defined()) generator = new_generator(index);
  return generator;
}

void manual_seed(std::uint64_t seed, int device) {
  at::Generator generator = default_generator(device);
  const std::lock_guard guard(generator.mutex());
  generator.set_current_seed(seed);
}

at::Generator new_generator(int device) {
  return at::make_generator<NeuronGenerator>(device, at::detail::createCPUGenerator());
}

Buffer* generator_state(const std::optional<at::Generator>& generator, int device) {
  const at::Generator& chosen = generator.has_value() && generator->defined() ? *generator : default_generator(device);
  TORCH_CHECK(chosen.device().type() == at::DeviceType::PrivateUse1,
              "Expected a 'neuron' device type for generator but found '", chosen.device().type(), "'");
  return static_cast<NeuronGenerator*>(chosen.unsafeGetGeneratorImpl())->state();
}

at::Generator inner_generator(Buffer& state) {
  engine().device(state.device()).wait_for(state);
  auto* impl = static_cast<c10::GeneratorImpl*>(state.backing().object);
  return at::Generator(c10::intrusive_ptr<c10::GeneratorImpl>::unsafe_reclaim_from_nonowning(impl));
}

}  // namespace aee
