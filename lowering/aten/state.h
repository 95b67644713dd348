// State that changes results: the caller's switches at the time of the call.
//
// ThreadState is what belongs to the calling thread (thread count, rounding and denormal mode, grad mode); it travels
// with a launch and is applied on the thread that runs it. Switches of the whole process are read by the kernels when
// they run: their setters wait for the device first (bindings), and their values are part of every step's key.
#pragma once

#include <cstdint>

namespace aee {

struct ThreadState {
  std::int32_t threads = 1;      ///< at::get_num_threads()
  std::uint32_t float_mode = 0;  ///< MXCSR without its exception flags
  std::uint32_t grad_mode = 0;   ///< 0 or 1
  std::uint32_t reserved = 0;
};
static_assert(sizeof(ThreadState) == 16);

/// The calling thread's state.
[[nodiscard]] ThreadState capture_thread_state() noexcept;
/// Makes it the state of this thread; cheap if nothing changed since the last call here.
void apply_thread_state(const ThreadState& state) noexcept;
/// A word that differs whenever a switch that changes layouts, acceptance or values differs.
[[nodiscard]] std::uint64_t global_state_word(const ThreadState& state) noexcept;

/// Makes the kernels' libraries find out which CPU they run on. To be called once, before threads run kernels: see
/// Note [First use of MKL].
void detect_cpu();

}  // namespace aee
