// Data-parallel training from start to end: weights from rank 0, a shard of the data per rank, gradients
// averaged after every step, accuracy over all ranks, and a checkpoint.

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "examples/support/example.hpp"
#include "examples/support/mlp.hpp"
#include "examples/support/timeline.hpp"

using namespace ringside;
using examples::Mlp;
using examples::Samples;

namespace {

constexpr int kNumSamples = 1920;  // Whole batches for 1, 2, 3, 4 and 8 ranks.
constexpr std::array kWidths = {2, 128, 128, 2};

/// Two spirals wound around each other, one per class: no line can part them.
Samples two_spirals() {
  std::minstd_rand generator(7);
  std::normal_distribution<float> noise(0, 0.02F);
  Samples samples{.inputs = Eigen::MatrixXf(2, kNumSamples), .labels = {}};
  for (int i = 0; i < kNumSamples; ++i) {
    const int label = i % 2;
    const float radius = 0.1F + 0.9F * static_cast<float>(i) / kNumSamples;
    const float angle =
        3 * std::numbers::pi_v<float> * radius + std::numbers::pi_v<float> * static_cast<float>(label);
    samples.inputs.col(i) << radius * std::cos(angle) + noise(generator),
        radius * std::sin(angle) + noise(generator);
    samples.labels.push_back(label);
  }
  return samples;
}

/// Who sees which sample when. All ranks shuffle all numbers alike (the seed is the epoch) and take every
/// N-th: shards of an epoch never overlap, nothing is sent, and the next epoch deals them anew.
class Sampler {
 public:
  Sampler(int ranks, int batch) : ranks_(ranks), batch_(batch) {}

  void shuffle(int epoch) {
    order_.resize(kNumSamples);
    std::iota(order_.begin(), order_.end(), 0);
    std::shuffle(order_.begin(), order_.end(), std::mt19937(static_cast<unsigned>(epoch)));
  }
  int steps_per_epoch() const { return kNumSamples / (ranks_ * batch_); }

  std::vector<int> batch(Rank rank, int step) const {
    std::vector<int> numbers;
    for (int i = step * batch_; i < (step + 1) * batch_; ++i) {
      numbers.push_back(order_[static_cast<std::size_t>(i * ranks_ + rank)]);
    }
    return numbers;
  }
  /// What all ranks together see in this step.
  std::vector<int> union_batch(int step) const {
    std::vector<int> numbers;
    for (Rank rank = 0; rank < ranks_; ++rank) {
      const std::vector<int> own = batch(rank, step);
      numbers.insert(numbers.end(), own.begin(), own.end());
    }
    return numbers;
  }

 private:
  int ranks_;
  int batch_;
  std::vector<int> order_;
};

struct Options {
  int epochs = 30;
  int batch = 16;
  double rate = 0.5;
  std::string save;
  std::string resume;
  std::string output;
};

// ---- Checkpoint: the epoch, then all parameters, as bytes -------------------------------------------------

void save(const std::string& file, int epoch, std::span<const float> parameters) {
  std::ofstream stream(file, std::ios::binary);
  const std::int32_t header = epoch;
  stream.write(reinterpret_cast<const char*>(&header), sizeof(header));
  stream.write(reinterpret_cast<const char*>(parameters.data()),
               static_cast<std::streamsize>(parameters.size_bytes()));
  stream.close();
  examples::check(!stream.fail(), fmt::format("cannot write the checkpoint {}", file));
}

/// Returns how many epochs it has behind it.
int load(const std::string& file, std::span<float> parameters) {
  std::ifstream stream(file, std::ios::binary);
  std::int32_t epoch = 0;
  stream.read(reinterpret_cast<char*>(&epoch), sizeof(epoch));
  stream.read(reinterpret_cast<char*>(parameters.data()),
              static_cast<std::streamsize>(parameters.size_bytes()));
  if (!stream || stream.peek() != std::ifstream::traits_type::eof()) {
    throw Error(ErrorKind::bad_input, fmt::format("{} is no checkpoint of this net", file));
  }
  return epoch;
}

// ---- Training ---------------------------------------------------------------------------------------------

struct StepTimes {
  std::vector<double> forward, backward, communication;
};

class Trainer {
 public:
  Trainer(Communicator& communicator, const Options& options)
      : communicator_(communicator),
        options_(options),
        data_(two_spirals()),
        sampler_(communicator.ranks(), options.batch),
        // Every rank starts somewhere else: only the broadcast makes them equal.
        model_({kWidths.begin(), kWidths.end()}, static_cast<unsigned>(communicator.rank()) + 1),
        gradients_(model_.parameters().size()) {
    if (!options.resume.empty()) {
      first_epoch_ = load(options.resume, model_.parameters());
    }
    communicator_.broadcast(model_.parameters(), 0);
    if (communicator.rank() == 0) {
      alone_.emplace(model_);  // What one process would make of the same batches.
    }
  }

  void train() {
    for (int epoch = first_epoch_; epoch < options_.epochs; ++epoch) {
      sampler_.shuffle(epoch);
      std::array<double, 3> totals = {};  // Loss, correct and seen samples of this rank.
      for (int step = 0; step < sampler_.steps_per_epoch(); ++step) {
        totals[0] += train_step(step) * options_.batch;
        totals[1] += model_.num_correct();
        totals[2] += options_.batch;
      }
      communicator_.all_reduce(totals);  // … and now of all ranks.
      const bool shown = epoch == first_epoch_ || (epoch + 1) % 10 == 0 || epoch + 1 == options_.epochs;
      if (shown && communicator_.rank() == 0) {
        fmt::print("  epoch {:3}: loss {:.4f}, accuracy {:5.1f} %\n", epoch + 1, totals[0] / totals[2],
                   100 * totals[1] / totals[2]);
      }
    }
  }

  void finish() {
    check_ranks_agree();
    if (communicator_.rank() != 0) {
      return;
    }
    compare_with_one_process();
    fmt::print("Median step at rank 0: forward {}, backward {}, communication {}.\n", median(times_.forward),
               median(times_.backward), median(times_.communication));
    if (!options_.save.empty()) {
      save(options_.save, options_.epochs, model_.parameters());
      fmt::print("Checkpoint of {} epochs: {}\n", options_.epochs, options_.save);
    }
    if (!options_.output.empty() && !times_.forward.empty()) {
      write_steps();
      const std::string title = fmt::format("The last steps of sgd on {} ranks ({}), rank 0",
                                            communicator_.ranks(), name(communicator_.backend()));
      fmt::print("Chart: {}\n", examples::draw_steps({{"forward", last(times_.forward)},
                                                      {"backward", last(times_.backward)},
                                                      {"communication", last(times_.communication)}},
                                                     title, "sgd_steps", options_.output));
    }
  }

 private:
  double train_step(int step) {
    const double start = examples::now();
    const double loss = model_.forward(data_.pick(sampler_.batch(communicator_.rank(), step)));
    const double forward_end = examples::now();
    model_.backward(gradients_, [](std::size_t) {});
    const double backward_end = examples::now();
    communicator_.all_reduce(gradients_, ReduceOp::avg);
    const double communication_end = examples::now();
    model_.step(gradients_, static_cast<float>(options_.rate));

    times_.forward.push_back(forward_end - start);
    times_.backward.push_back(backward_end - forward_end);
    times_.communication.push_back(communication_end - backward_end);
    if (alone_) {
      train_alone(step);
    }
    return loss;
  }

  void train_alone(int step) {
    std::vector<float> gradients(gradients_.size());
    alone_->forward(data_.pick(sampler_.union_batch(step)));
    alone_->backward(gradients, [](std::size_t) {});
    alone_->step(gradients, static_cast<float>(options_.rate));
    // After many steps two roundings of a training part; the first steps tell whether it is the same.
    if (++steps_alone_ == kComparedSteps) {
      difference_ = largest_difference();
    }
  }

  double largest_difference() {
    double largest = 0;
    for (std::size_t i = 0; i < gradients_.size(); ++i) {
      largest =
          std::max(largest, static_cast<double>(std::abs(model_.parameters()[i] - alone_->parameters()[i])));
    }
    return largest;
  }

  void compare_with_one_process() {
    const int steps = std::min(steps_alone_, kComparedSteps);
    const double difference = steps < kComparedSteps ? largest_difference() : difference_;
    fmt::print(
        "After {} steps the parameters are those of one process on the union of the batches: {}.\n", steps,
        difference < 1e-4 ? "largest difference below 1e-4" : fmt::format("OFF BY {:.1e}", difference));
    examples::check(difference < 1e-4, "data-parallel training is not training on the union of the batches");
  }

  void check_ranks_agree() {
    std::vector<float> least(model_.parameters().begin(), model_.parameters().end());
    std::vector<float> most = least;
    communicator_.all_reduce(least, ReduceOp::min);
    communicator_.all_reduce(most, ReduceOp::max);
    examples::check(least == most, "the ranks' parameters have parted");
    if (communicator_.rank() == 0) {
      const double sum = std::accumulate(least.begin(), least.end(), 0.0);
      fmt::print("All ranks hold the same parameters; their sum is {:.6f}.\n", sum);
    }
  }

  /// What each step of rank 0 took, in seconds.
  void write_steps() const {
    std::filesystem::create_directories(options_.output);
    const std::string file = options_.output + "/sgd_steps.csv";
    std::ofstream stream(file);
    stream << "step,forward,backward,communication\n";
    for (std::size_t i = 0; i < times_.forward.size(); ++i) {
      stream << fmt::format("{},{:.9f},{:.9f},{:.9f}\n", i + 1, times_.forward[i], times_.backward[i],
                            times_.communication[i]);
    }
    stream.close();
    examples::check(!stream.fail(), fmt::format("cannot write {}", file));
    fmt::print("Times of all {} steps: {}\n", times_.forward.size(), file);
  }

  /// As many steps as one can tell apart in a chart.
  static std::vector<double> last(const std::vector<double>& seconds) {
    constexpr std::ptrdiff_t kDrawn = 60;
    const auto count = static_cast<std::ptrdiff_t>(seconds.size());
    return {seconds.end() - std::min(kDrawn, count), seconds.end()};
  }

  static std::string median(std::vector<double> seconds) {
    if (seconds.empty()) {
      return "-";
    }
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2),
                     seconds.end());
    return format(Seconds{seconds[seconds.size() / 2]});
  }

  static constexpr int kComparedSteps = 50;

  Communicator& communicator_;
  const Options& options_;
  Samples data_;
  Sampler sampler_;
  Mlp model_;
  std::vector<float> gradients_;
  std::optional<Mlp> alone_;
  StepTimes times_;
  int first_epoch_ = 0;
  int steps_alone_ = 0;
  double difference_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  examples::Example example(
      "sgd",
      "Teaches: data-parallel training. Weights broadcast from rank 0, a shard of the data per rank and "
      "epoch, gradients\n"
      "averaged after each step, accuracy over all ranks, and a checkpoint from which all ranks go on.");
  example.option("--epochs", options.epochs, "How often all data are seen, since the beginning", 1);
  example.option("--batch", options.batch, "Samples per rank and step", 1, 240);
  example.option("--rate", options.rate, "Learning rate");
  example.option("--save", options.save, "Checkpoint that rank 0 writes at the end");
  example.option("--resume", options.resume, "Checkpoint from which all ranks go on");
  example.option("--output", options.output, "Folder for the times of each step: a table and a chart");
  return example.run(argc, argv, [&](const RankGroup& group) {
    if (group.ranks * options.batch > kNumSamples) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("{} ranks with batches of {} need more than the {} samples there are",
                              group.ranks, options.batch, kNumSamples));
    }
    fmt::print("Two spirals, {} samples; {} ranks with batches of {}.\n", kNumSamples, group.ranks,
               options.batch);
    launch(group, [&](Communicator& communicator) {
      Trainer trainer(communicator, options);
      trainer.train();
      trainer.finish();
    });
  });
}
