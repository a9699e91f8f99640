// A real network: ResNet-34 with LibTorch, trained data-parallel on images like CIFAR-10's, its gradients
// averaged by ringside. What do 85 MB of gradients cost per step here, and what would they cost elsewhere?

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/torch.h>

#include "examples/support/example.hpp"
#include "examples/support/prediction.hpp"

using namespace ringside;

namespace {

constexpr int kClasses = 10;
constexpr int kSide = 32;
constexpr int kImageBytes = 3 * kSide * kSide;

struct Options {
  int batch = 8;
  int steps = 3;
  std::string algorithm = "ring";
  std::string data;
  std::string machines = "configs/machines";
};

// ---- The network. Source: K. He et al., "Deep residual learning for image recognition", CVPR 2016, table 1

torch::nn::Conv2d convolution(int in, int out, int kernel, int stride) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

struct BlockImpl : torch::nn::Module {
  BlockImpl(int in, int out, int stride) {
    main = register_module(
        "main",
        torch::nn::Sequential(convolution(in, out, 3, stride), torch::nn::BatchNorm2d(out), torch::nn::ReLU(),
                              convolution(out, out, 3, 1), torch::nn::BatchNorm2d(out)));
    if (stride != 1 || in != out) {
      shortcut = register_module(
          "shortcut", torch::nn::Sequential(convolution(in, out, 1, stride), torch::nn::BatchNorm2d(out)));
    }
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return torch::relu(main->forward(x) + (shortcut ? shortcut->forward(x) : x));
  }
  torch::nn::Sequential main{nullptr};
  torch::nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(Block);

torch::nn::Sequential resnet34() {
  torch::nn::Sequential net(convolution(3, 64, 7, 2), torch::nn::BatchNorm2d(64), torch::nn::ReLU(),
                            torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions(3).stride(2).padding(1)));
  int channels = 64;
  for (const auto& [width, blocks] : {std::pair{64, 3}, {128, 4}, {256, 6}, {512, 3}}) {
    for (int block = 0; block < blocks; ++block) {
      net->push_back(Block(channels, width, block == 0 && width > 64 ? 2 : 1));
      channels = width;
    }
  }
  net->push_back(torch::nn::AdaptiveAvgPool2d(1));
  net->push_back(torch::nn::Flatten());
  net->push_back(torch::nn::Linear(512, kClasses));
  return net;
}

// ---- Data -------------------------------------------------------------------------------------------------

struct Batch {
  torch::Tensor images;
  torch::Tensor labels;
};

/// Images of noise, a tone per class, so that there is something to learn.
Batch synthetic(int count, int seed) {
  const torch::Generator generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(seed));
  const torch::Tensor labels = torch::randint(kClasses, {count}, generator, torch::kLong);
  const torch::Tensor tone = labels.to(torch::kFloat).div(kClasses).view({count, 1, 1, 1});
  return {torch::randn({count, 3, kSide, kSide}, generator) * 0.3 + tone, labels};
}

/// CIFAR-10's binary version: per image a byte of label and 3072 bytes of pixels. Source:
/// https://www.cs.toronto.edu/~kriz/cifar.html, "Binary version".
Batch read_cifar10(const std::filesystem::path& folder, int first, int count) {
  const std::filesystem::path file = folder / "data_batch_1.bin";
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    throw Error(ErrorKind::bad_input, fmt::format("--data: there is no {}", file.string()));
  }
  Batch batch = {torch::empty({count, 3, kSide, kSide}), torch::empty({count}, torch::kLong)};
  stream.seekg(static_cast<std::streamoff>(first) * (kImageBytes + 1));
  std::array<unsigned char, kImageBytes + 1> record;
  for (int i = 0; i < count; ++i) {
    if (!stream.read(reinterpret_cast<char*>(record.data()), record.size()) || record.front() >= kClasses) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("--data: {} is no CIFAR-10 file of {} images", file.string(), first + count));
    }
    batch.labels[i] = static_cast<std::int64_t>(record.front());
    batch.images[i] =
        torch::from_blob(record.data() + 1, {3, kSide, kSide}, torch::kByte).to(torch::kFloat) / 255;
  }
  return batch;
}

/// A different batch for each rank and step.
Batch batch_of(const Options& options, Rank rank, int ranks, int step) {
  const int number = step * ranks + rank;
  return options.data.empty() ? synthetic(options.batch, number)
                              : read_cifar10(options.data, number * options.batch, options.batch);
}

// ---- Training ---------------------------------------------------------------------------------------------

std::span<float> elements_of(const torch::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

/// One tensor in which all gradients lie side by side: each parameter's gradient is a view of its piece, so
/// backward writes into the message itself and nothing is copied.
torch::Tensor join_gradients(const std::vector<torch::Tensor>& parameters) {
  std::int64_t count = 0;
  for (const torch::Tensor& parameter : parameters) {
    count += parameter.numel();
  }
  torch::Tensor gradients = torch::zeros({count});
  std::int64_t offset = 0;
  for (torch::Tensor parameter : parameters) {
    parameter.mutable_grad() = gradients.narrow(0, offset, parameter.numel()).view_as(parameter);
    offset += parameter.numel();
  }
  return gradients;
}

bool same_at_all_ranks(Communicator& communicator, const torch::Tensor& tensor) {
  std::array<double, 2> sum = {tensor.sum(torch::kDouble).item<double>(), 0};
  sum[1] = -sum[0];
  communicator.all_reduce(sum, ReduceOp::min);
  return sum[0] == -sum[1];
}

/// Prints what one all_reduce of the gradients would take on each machine of a folder.
void elsewhere(const Options& options, Bytes bytes, int ranks) {
  fmt::print("What {} of gradients cost per step, {} all_reduce, predicted:\n", format(bytes),
             options.algorithm);
  for (const examples::Estimate& estimate :
       examples::estimates(options.machines, options.algorithm, bytes, ranks)) {
    fmt::print(
        "  {:>10}  {:3} ranks  {}\n", estimate.seconds ? format(*estimate.seconds) : "-", estimate.ranks,
        estimate.seconds ? estimate.machine : fmt::format("{}: {}", estimate.machine, estimate.reason));
  }
}

void train(Communicator& communicator, const Options& options) {
  const Rank rank = communicator.rank();
  const int n = communicator.ranks();
  torch::set_num_threads(std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / n));

  torch::nn::Sequential net = resnet34();
  const std::vector<torch::Tensor> parameters = net->parameters();
  for (const torch::Tensor& parameter : parameters) {
    communicator.broadcast(elements_of(parameter), 0);
  }
  const torch::Tensor gradients = join_gradients(parameters);
  const Bytes bytes = {gradients.numel() * static_cast<std::int64_t>(sizeof(float))};
  const std::optional<Machine> machine = examples::probe(communicator, {32 << 20});
  torch::optim::SGD optimizer(parameters, torch::optim::SGDOptions(0.01).momentum(0.9));
  if (rank == 0) {
    fmt::print("ResNet-34: {} parameters in {} tensors, {} bytes of gradients.\n", gradients.numel(),
               parameters.size(), bytes.value);
    fmt::print("{:>6}{:>10}{:>12}{:>12}{:>16}{:>12}\n", "step", "loss", "forward", "backward",
               "communication", "predicted");
  }
  for (int step = 0; step < options.steps; ++step) {
    const Batch batch = batch_of(options, rank, n, step);
    communicator.barrier();
    const double start = examples::now();
    const torch::Tensor loss = torch::nn::functional::cross_entropy(net->forward(batch.images), batch.labels);
    const double forward_end = examples::now();
    gradients.zero_();
    loss.backward();
    communicator.barrier();  // So that waiting for a slower rank does not count as communication.
    const double backward_end = examples::now();
    communicator.all_reduce(elements_of(gradients), ReduceOp::avg, options.algorithm);
    const double end = examples::now();
    optimizer.step();

    std::array<float, 1> mean_loss = {loss.item<float>()};
    communicator.all_reduce(mean_loss, ReduceOp::avg);
    if (rank == 0) {
      const std::string predicted =
          machine ? format(Seconds{examples::predicted_all_reduce(*machine, options.algorithm, n, bytes)})
                  : "-";
      fmt::print("{:>6}{:>10.4f}{:>12}{:>12}{:>16}{:>12}\n", step + 1, mean_loss.front(),
                 format(Seconds{forward_end - start}), format(Seconds{backward_end - forward_end}),
                 format(Seconds{end - backward_end}), predicted);
    }
  }
  examples::check(same_at_all_ranks(communicator, gradients), "the ranks' gradients differ after all_reduce");
  for (const torch::Tensor& parameter : parameters) {
    examples::check(same_at_all_ranks(communicator, parameter), "the ranks' parameters have parted");
  }
  if (rank == 0) {
    fmt::print("Gradients and parameters are the same at all ranks.\n\n");
    elsewhere(options, bytes, n);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  examples::Example example(
      "resnet34",
      "Teaches: what gradient synchronisation costs a real network. ResNet-34 (10 classes, LibTorch), "
      "gradients averaged\n"
      "by ringside; measured beside predicted, and the same 85 MB predicted for other machines.");
  example.option("--batch", options.batch, "Images per rank and step; batch norm needs two", 2, 1024);
  example.option("--steps", options.steps, "Training steps", 1);
  example.option("--algorithm", options.algorithm, "Algorithm of all_reduce: see `ringside list algorithms`");
  example.option("--data", options.data, "Folder of CIFAR-10's binary version (default: synthetic images)");
  example.option("--machines", options.machines, "Folder of machine files for the predictions at the end");
  return example.run(argc, argv, [&](const RankGroup& group) {
    launch(group, [&](Communicator& communicator) {
      try {
        train(communicator, options);
      } catch (const c10::Error& error) {
        throw Error(ErrorKind::failed, error.what_without_backtrace());
      }
    });
  });
}
