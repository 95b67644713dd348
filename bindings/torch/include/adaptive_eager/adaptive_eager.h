// Adaptive Eager for C++ programs: the PyTorch device `neuron` without Python.
//
//   #include <adaptive_eager/adaptive_eager.h>
//   #include <torch/torch.h>
//
//   const at::Device device = aee::device();
//   model->to(device);                                    // PyTorch's own C++ interface does the rest
//   const aee::AdaptiveEagerGuard adaptive;               // ops gather in segments while it lives
//   for (const auto& [input, target] : batches) {
//     optimizer.zero_grad();
//     loss_of(model->forward(input.to(device)), target.to(device)).backward();
//     optimizer.step();
//     aee::mark_step();
//   }
//   aee::synchronize();                                   // waits; throws what failed on the device
//   std::cout << aee::explain();
//
// Loading libadaptive_eager.so registers the device; the device starts at its first use and finishes its work when the
// process ends. Nothing has to be initialised or shut down, and no object of ours has to outlive another.
//
// Threads: everything may be called from any thread. A current device, a current stream and the adaptive switch belong
// to the calling thread.
// Errors: a bad call throws c10::Error whose text says what was expected and what came; running out of memory throws
// c10::OutOfMemoryError. What goes wrong on the device is thrown by the next call that waits. After fork() the child
// must not use a device that the parent has used: every use throws.
#pragma once

#include <adaptive_eager/adaptive.h>
#include <adaptive_eager/device.h>
#include <adaptive_eager/metrics.h>
#include <adaptive_eager/options.h>
#include <adaptive_eager/random.h>
#include <adaptive_eager/stream.h>
