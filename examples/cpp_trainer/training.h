// A small training of an MLP on a spiral of two arms, the same on every device: data, start and order of batches come
// from the seed. Called by main.cpp, once a device. One thread; everything is a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

/// What to train.
struct Settings {
  std::string optimizer = "adam";  ///< adam or sgd
  std::int64_t steps = 200;
  std::int64_t batch = 64;  ///< samples of a batch
  std::uint64_t seed = 1;
};

/// What a training gave, on the CPU.
struct Outcome {
  std::vector<torch::Tensor> losses;      ///< one a step
  std::vector<torch::Tensor> parameters;  ///< after the last step, in the module's order
  double seconds = 0;                     ///< of the steps, without the making of data and model
};

/// Trains on one device. Throws c10::Error for an optimizer that is not known, or for no steps.
[[nodiscard]] Outcome train(const Settings& settings, torch::Device device);
