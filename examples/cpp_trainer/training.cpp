#include "training.h"

#include <chrono>
#include <memory>
#include <numbers>

#include <adaptive_eager/adaptive_eager.h>

namespace {

using torch::Tensor;

constexpr std::int64_t kSamples = 1024;

struct MlpImpl : torch::nn::Module {
  torch::nn::Linear first{register_module("first", torch::nn::Linear(2, 64))};
  torch::nn::Linear second{register_module("second", torch::nn::Linear(64, 64))};
  torch::nn::Linear last{register_module("last", torch::nn::Linear(64, 2))};

  Tensor forward(const Tensor& input) { return last(torch::tanh(second(torch::relu(first(input))))); }
};
TORCH_MODULE(Mlp);

struct Samples {
  Tensor points;  // [kSamples, 2]
  Tensor arms;    // [kSamples], 0 or 1
};

Samples make_spiral() {
  const Tensor arms = torch::randint(0, 2, {kSamples}, torch::kLong);
  const Tensor radius = torch::rand({kSamples});
  const Tensor angle = 3 * std::numbers::pi * radius + std::numbers::pi * arms + 0.1 * torch::randn({kSamples});
  return {torch::stack({radius * torch::cos(angle), radius * torch::sin(angle)}, 1), arms};
}

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::string& name, std::vector<Tensor> parameters) {
  if (name == "adam") {
    return std::make_unique<torch::optim::Adam>(std::move(parameters), torch::optim::AdamOptions(3e-3));
  }
  TORCH_CHECK(name == "sgd", "expected the optimizer adam or sgd, got ", name);
  return std::make_unique<torch::optim::SGD>(std::move(parameters), torch::optim::SGDOptions(0.1).momentum(0.9));
}

std::vector<Tensor> to_host(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> copies;
  for (const Tensor& tensor : tensors) copies.push_back(tensor.detach().cpu());
  return copies;
}

}  // namespace

Outcome train(const Settings& settings, torch::Device device) {
  TORCH_CHECK(settings.steps > 0, "expected at least one step, got ", settings.steps);
  torch::manual_seed(settings.seed);
  const Samples host = make_spiral();
  const Samples data{host.points.to(device), host.arms.to(device)};
  Mlp model;
  model->to(device);
  const auto optimizer = make_optimizer(settings.optimizer, model->parameters());

  Outcome outcome;
  std::vector<Tensor> losses;
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t step = 0; step < settings.steps; ++step) {
    const Tensor batch = torch::randint(0, kSamples, {settings.batch}, torch::kLong).to(device);
    optimizer->zero_grad();
    const Tensor logits = model->forward(data.points.index_select(0, batch));
    const Tensor loss = torch::nn::functional::cross_entropy(logits, data.arms.index_select(0, batch));
    loss.backward();
    optimizer->step();
    losses.push_back(loss.detach());  // read at the end: reading it here would wait for the device
    if (!device.is_cpu()) aee::mark_step();
  }
  if (!device.is_cpu()) aee::synchronize();
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  outcome.losses = to_host(losses);
  outcome.parameters = to_host(model->parameters());
  return outcome;
}
