// 400 lines: a program of the tutorial is one file.
//
// When does synchronisation happen? Gradients are put into buckets in the order in which backward makes them,
// and a communication thread reduces each bucket as soon as it is full, while backward goes on with earlier
// layers. The same step is done in four ways, measured and predicted, and the last one is drawn.

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <iterator>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/plan/step_model.hpp"
#include "examples/support/example.hpp"
#include "examples/support/mlp.hpp"
#include "examples/support/prediction.hpp"
#include "examples/support/timeline.hpp"

using namespace ringside;
using examples::Event;
using examples::Mlp;
using examples::Samples;

namespace {

constexpr int kInputs = 32 * 32 * 3;
constexpr int kClasses = 10;
constexpr float kRate = 0.01F;

struct Options {
  int width = 2048;
  int layers = 6;
  int batch = 8;
  int steps = 3;
  Bytes first_bucket{1 << 20};
  Bytes bucket{25 << 20};
  std::string algorithm = "ring";
  std::string output = "out/ddp";
};

/// Averages buckets over all ranks, bucket 0 first. With overlap a thread does so as buckets are filled; it
/// alone uses the communicator between start() and finish(). Every rank launches the same buckets in the same
/// order, whatever the order in which its gradients come: else ranks would wait for each other crosswise.
class Reducer {
 public:
  Reducer(Communicator& communicator, std::string algorithm, std::vector<std::span<float>> buckets,
          bool overlap)
      : communicator_(communicator),
        algorithm_(std::move(algorithm)),
        buckets_(std::move(buckets)),
        overlap_(overlap) {}

  void start() {
    num_full_ = 0;
    times_.assign(buckets_.size(), {});
    if (overlap_) {
      thread_ = std::thread([this] { reduce_all(); });
    }
  }

  /// Backward has filled the next bucket.
  void next_is_full() {
    const std::lock_guard lock(mutex_);
    ++num_full_;
    changed_.notify_one();
  }

  /// Returns when all buckets are averaged.
  void finish() {
    if (overlap_) {
      thread_.join();
      if (failure_) {
        std::rethrow_exception(failure_);
      }
    } else {
      reduce_all();
    }
  }

  struct Times {
    double start = 0, end = 0;
  };
  const std::vector<Times>& times() const { return times_; }

 private:
  void reduce_all() {
    try {
      for (std::size_t i = 0; i < buckets_.size(); ++i) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return num_full_ > i; });
        lock.unlock();
        times_[i].start = examples::now();
        communicator_.all_reduce(buckets_[i], ReduceOp::avg, algorithm_);
        times_[i].end = examples::now();
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  Communicator& communicator_;
  std::string algorithm_;
  std::vector<std::span<float>> buckets_;
  bool overlap_;
  std::vector<Times> times_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t num_full_ = 0;
  std::exception_ptr failure_;
};

/// What one step of one rank did when; seconds as now() says.
struct StepTimes {
  double start = 0, forward_end = 0, backward_end = 0, synchronised = 0, end = 0;
  std::vector<double> arrived;  ///< Each gradient, the last layer's first.
  std::vector<Reducer::Times> all_reduces;

  double full(const Bucket& bucket) const { return arrived[bucket.first + bucket.count - 1]; }
};

/// A model, its gradients, and one way to synchronise them.
class Training {
 public:
  Training(Communicator& communicator, const Options& options, std::vector<Bucket> buckets, bool overlap)
      : communicator_(communicator),
        model_(widths(options), 1),
        gradients_(model_.parameters().size()),
        buckets_(std::move(buckets)),
        reducer_(communicator, options.algorithm, spans(), overlap) {}

  static std::vector<int> widths(const Options& options) {
    std::vector<int> result(static_cast<std::size_t>(options.layers) + 2, options.width);
    result.front() = kInputs;
    result.back() = kClasses;
    return result;
  }

  /// Returns this rank's own loss.
  float step(const Samples& samples, StepTimes& times) {
    communicator_.barrier();
    times.start = examples::now();
    const float loss = model_.forward(samples);
    times.forward_end = examples::now();

    times.arrived.clear();
    reducer_.start();
    auto bucket = buckets_.begin();
    model_.backward(gradients_, [&](std::size_t) {
      times.arrived.push_back(examples::now());
      if (times.arrived.size() == bucket->first + bucket->count) {
        ++bucket;
        reducer_.next_is_full();
      }
    });
    times.backward_end = examples::now();
    reducer_.finish();
    times.synchronised = examples::now();
    times.all_reduces = reducer_.times();

    model_.step(gradients_, kRate);
    times.end = examples::now();
    return loss;
  }

  std::span<const float> parameters() { return model_.parameters(); }

 private:
  /// A bucket's tensors are neighbours, so it is a piece of the gradients itself and nothing is copied.
  /// Gradients arrive in reverse order: the last to come into a bucket is the first in memory.
  std::vector<std::span<float>> spans() {
    std::vector<std::span<float>> result;
    for (const Bucket& bucket : buckets_) {
      const std::size_t begin =
          model_.tensors()[model_.tensors().size() - bucket.first - bucket.count].offset;
      result.push_back(
          std::span(gradients_).subspan(begin, static_cast<std::size_t>(bucket.bytes.value) / sizeof(float)));
    }
    return result;
  }

  Communicator& communicator_;
  Mlp model_;
  std::vector<float> gradients_;
  std::vector<Bucket> buckets_;
  Reducer reducer_;
};

Samples random_images(Rank rank, int count) {
  std::minstd_rand generator(static_cast<unsigned>(rank) + 1);
  std::normal_distribution<float> value;
  Samples samples{.inputs = Eigen::MatrixXf::NullaryExpr(kInputs, count, [&] { return value(generator); }),
                  .labels = {}};
  for (int i = 0; i < count; ++i) {
    samples.labels.push_back(static_cast<int>(generator() % kClasses));
  }
  return samples;
}

// ---- The four ways ----------------------------------------------------------------------------------------

/// The step of median length, after one that does not count; lengths are those of the slowest rank.
struct Measured {
  double seconds = 0;
  StepTimes times;
};

Measured measure(Communicator& communicator, Training& training, const Samples& samples, int steps,
                 float& loss) {
  std::vector<Measured> all;
  for (int i = -1; i < steps; ++i) {
    Measured measured;
    loss = training.step(samples, measured.times);
    std::array<double, 1> slowest = {measured.times.synchronised - measured.times.start};
    communicator.all_reduce(slowest, ReduceOp::max);
    measured.seconds = slowest.front();
    if (i >= 0) {
      all.push_back(std::move(measured));
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Measured& a, const Measured& b) { return a.seconds < b.seconds; });
  return all[all.size() / 2];
}

std::vector<Event> events_of(const StepTimes& times, const std::vector<Bucket>& buckets) {
  std::vector<Event> events = {{"compute", "forward", "forward", times.start, times.forward_end}};
  double begin = times.forward_end;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    events.push_back({"compute", "backward", fmt::format("fills {}", i), begin, times.full(buckets[i])});
    begin = times.full(buckets[i]);
  }
  events.push_back({"compute", "optimiser", "step", times.synchronised, times.end});
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    events.push_back({"communication", "all_reduce",
                      fmt::format("bucket {}: {}", i, format(buckets[i].bytes)), times.all_reduces[i].start,
                      times.all_reduces[i].end});
  }
  return events;
}

void show_timeline(Communicator& communicator, const StepTimes& times, const std::vector<Bucket>& buckets,
                   const std::string& output) {
  const std::vector<Event> events = examples::collect(communicator, events_of(times, buckets));
  if (communicator.rank() == 0) {
    const std::string title = fmt::format("One step on {} ranks: {} buckets, reduced while backward goes on",
                                          communicator.ranks(), buckets.size());
    fmt::print("Timeline: {}\n", examples::draw(events, title, "ddp_timeline", output));
    fmt::print("          {}  (open in ui.perfetto.dev)\n",
               examples::write_perfetto(events, "ddp_timeline", output).string());
  }
}

void show_losses(Communicator& communicator, float own) {
  std::array<float, 1> loss = {own};
  std::vector<float> all(static_cast<std::size_t>(communicator.ranks()));
  communicator.all_gather(loss, all);
  // Averaging gradients averages no losses: who wants to log the loss of all data must reduce it, too.
  communicator.all_reduce(loss, ReduceOp::avg);
  if (communicator.rank() == 0) {
    fmt::print(
        "Each rank's loss is its own: {:.4f}. Their average, {:.4f}, takes an all_reduce of its own.\n",
        fmt::join(all, " "), loss.front());
  }
}

/// The gradients in order of arrival: the last layer's bias comes first.
std::vector<Gradient> gradients_of(const Options& options) {
  const Mlp model(Training::widths(options), 1);
  std::vector<Gradient> result;
  std::transform(model.tensors().rbegin(), model.tensors().rend(), std::back_inserter(result),
                 [](const examples::ParameterTensor& tensor) {
                   return Gradient{.bytes = {static_cast<std::int64_t>(tensor.count * sizeof(float))}};
                 });
  return result;
}

Bytes sum_of(const std::vector<Gradient>& gradients) {
  Bytes sum;
  for (const Gradient& gradient : gradients) {
    sum.value += gradient.bytes.value;
  }
  return sum;
}

/// What computing takes on the slowest rank, from a step in which communication does not disturb it.
struct Computing {
  Seconds forward;
  Seconds backward;
};

/// Fills in which share of backward each gradient takes.
Computing measured_computing(Communicator& communicator, const StepTimes& times,
                             std::vector<Gradient>& gradients) {
  std::vector<double> seconds = times.arrived;
  seconds.insert(seconds.begin(), times.forward_end);
  for (double& value : seconds) {
    value -= times.start;
  }
  communicator.all_reduce(seconds, ReduceOp::max);
  const Computing computing = {.forward = {seconds.front()}, .backward = {seconds.back() - seconds.front()}};
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    gradients[i].share = (seconds[i + 1] - seconds[i]) / computing.backward.value;
  }
  return computing;
}

/// One rank's part in doing the same steps in several ways; rank 0 prints a row for each.
class Comparison {
 public:
  Comparison(Communicator& communicator, const Options& options)
      : communicator_(communicator),
        options_(options),
        gradients_(gradients_of(options)),
        machine_(examples::probe(communicator, sum_of(gradients_))),
        samples_(random_images(communicator.rank(), options.batch)) {}

  void run() {
    print_heading();
    try_way("a message per tensor", Synchronisation::per_tensor);
    try_way("one bucket", Synchronisation::one_bucket);
    try_way("buckets, after backward", Synchronisation::ddp_without_overlap);
    try_way("buckets, during backward", Synchronisation::ddp);

    const std::vector<Bucket> buckets = buckets_of(Synchronisation::ddp);
    print_conclusion(buckets);
    show_losses(communicator_, loss_);
    show_timeline(communicator_, measured_.times, buckets, options_.output);
  }

 private:
  bool speaks() const { return communicator_.rank() == 0; }

  std::vector<Bucket> buckets_of(Synchronisation style) const {
    return make_buckets(gradients_,
                        {.style = style, .bucket = options_.bucket, .first_bucket = options_.first_bucket});
  }

  void try_way(const std::string& name, Synchronisation style) {
    const std::vector<Bucket> buckets = buckets_of(style);
    const bool overlap = style == Synchronisation::ddp;
    Training training(communicator_, options_, buckets, overlap);
    measured_ = measure(communicator_, training, samples_, options_.steps, loss_);
    if (!overlap) {
      computing_ = measured_computing(communicator_, measured_.times, gradients_);
    }
    const std::string predicted = machine_ ? format(prediction(buckets, overlap)) : "-";
    if (speaks()) {
      fmt::print("{:26}{:>10}{:>12}{:>12}{:>24}\n", name, buckets.size(), format(Seconds{measured_.seconds}),
                 predicted, format(Seconds{measured_.times.synchronised - measured_.times.backward_end}));
    }
    check_parameters(training.parameters(), name);
  }

  /// As `ringside plan` predicts a step, with the computing that was measured.
  Seconds prediction(const std::vector<Bucket>& buckets, bool overlap) const {
    const StepRequest request = {.gradients = gradients_,
                                 .buckets = buckets,
                                 .forward = computing_.forward,
                                 .backward = computing_.backward,
                                 .overlap = overlap};
    return simulate_step(request,
                         [this](Bytes bytes) {
                           return Seconds{examples::predicted_all_reduce(*machine_, options_.algorithm,
                                                                         communicator_.ranks(), bytes)};
                         })
        .total;
  }

  /// Another cut is another order of adding: the same but for rounding.
  void check_parameters(std::span<const float> parameters, const std::string& name) {
    if (reference_.empty()) {
      reference_.assign(parameters.begin(), parameters.end());
    }
    for (std::size_t i = 0; i < reference_.size(); ++i) {
      examples::check(std::abs(reference_[i] - parameters[i]) < 1e-4,
                      fmt::format("{}: the parameters differ from the first way's", name));
    }
  }

  void print_heading() const {
    if (speaks()) {
      fmt::print("{} of gradients in {} tensors; {} ranks ({}), batches of {}; all_reduce: {}.\n\n",
                 format(sum_of(gradients_)), gradients_.size(), communicator_.ranks(),
                 ringside::name(communicator_.backend()), options_.batch, options_.algorithm);
      fmt::print("{:26}{:>10}{:>12}{:>12}{:>24}\n", "gradients travel as", "messages", "step takes",
                 "predicted", "waits after backward");
    }
  }

  void print_conclusion(const std::vector<Bucket>& buckets) const {
    if (!speaks()) {
      return;
    }
    fmt::print(
        "All four end with the same parameters. Predictions take computing as measured, and with overlap as\n"
        "undisturbed: so it is where a network card moves the bytes. Here all ranks compute and communicate "
        "on {} cores.\n",
        std::max(1U, std::thread::hardware_concurrency()));
    fmt::print("\nBuckets in the order in which they fill ({} tensors, 0 is the first layer's weight):\n",
               gradients_.size());
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      const std::size_t first = gradients_.size() - 1 - buckets[i].first;
      fmt::print("  bucket {}: {:>9}, tensors {} to {}\n", i, format(buckets[i].bytes), first,
                 first + 1 - buckets[i].count);
    }
  }

  Communicator& communicator_;
  const Options& options_;
  std::vector<Gradient> gradients_;
  std::optional<Machine> machine_;
  Samples samples_;
  // What was measured of the last way:
  Measured measured_;
  float loss_ = 0;
  Computing computing_;           ///< Computing times of the last way without overlap: nothing disturbs it.
  std::vector<float> reference_;  ///< Parameters of the first way.
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  examples::Example example("ddp",
                            "Teaches: when gradients are synchronised. Buckets as DistributedDataParallel "
                            "makes them, reduced by a thread of\n"
                            "their own while backward goes on; beside a message per tensor, one bucket, and "
                            "buckets without overlap.");
  example.option("--width", options.width, "Neurons of each hidden layer", 1, 8192);
  example.option("--layers", options.layers, "Hidden layers", 1, 64);
  example.option("--batch", options.batch, "Samples per rank and step", 1, 1024);
  example.option("--steps", options.steps, "Timed steps of each way; the one of median length counts", 1);
  example.size("--first-bucket", options.first_bucket, "Limit of the first bucket, with its unit");
  example.size("--bucket", options.bucket, "Limit of the other buckets, with its unit");
  example.option("--algorithm", options.algorithm, "Algorithm of all_reduce: see `ringside list algorithms`");
  example.option("--output", options.output, "Folder for the timeline");
  return example.run(argc, argv, [&](const RankGroup& group) {
    launch(group, [&](Communicator& communicator) { Comparison(communicator, options).run(); });
  });
}
