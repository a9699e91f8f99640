#include "examples/support/mlp.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include <Eigen/Dense>

namespace examples {

using Eigen::MatrixXf;

Samples Samples::pick(std::span<const int> numbers) const {
  Samples result{.inputs = MatrixXf(inputs.rows(), static_cast<Eigen::Index>(numbers.size())), .labels = {}};
  for (const int number : numbers) {
    result.inputs.col(result.count()) = inputs.col(number);
    result.labels.push_back(labels[static_cast<std::size_t>(number)]);
  }
  return result;
}

Mlp::Mlp(std::vector<int> widths, unsigned seed) : widths_(std::move(widths)) {
  std::minstd_rand generator(seed);
  for (std::size_t layer = 0; layer < num_layers(); ++layer) {
    const auto inputs = static_cast<std::size_t>(widths_[layer]);
    const auto outputs = static_cast<std::size_t>(widths_[layer + 1]);
    tensors_.push_back({.offset = parameters_.size(), .count = inputs * outputs});
    // Uniform with variance 2 / inputs: K. He et al., "Delving deep into rectifiers", ICCV 2015, §2.2.
    std::uniform_real_distribution<float> weights(-std::sqrt(6.0F / static_cast<float>(inputs)),
                                                  std::sqrt(6.0F / static_cast<float>(inputs)));
    std::generate_n(std::back_inserter(parameters_), inputs * outputs, [&] { return weights(generator); });
    tensors_.push_back({.offset = parameters_.size(), .count = outputs});
    parameters_.resize(parameters_.size() + outputs, 0.0F);
  }
}

Mlp::ConstMap Mlp::weight(std::size_t layer) const {
  return {parameters_.data() + tensors_[2 * layer].offset, widths_[layer + 1], widths_[layer]};
}
Mlp::ConstMap Mlp::bias(std::size_t layer) const {
  return {parameters_.data() + tensors_[2 * layer + 1].offset, widths_[layer + 1], 1};
}

float Mlp::forward(const Samples& samples) {
  activations_.assign(1, samples.inputs);
  for (std::size_t layer = 0; layer < num_layers(); ++layer) {
    MatrixXf output = (weight(layer) * activations_.back()).colwise() + bias(layer).col(0);
    if (layer + 1 < num_layers()) {
      output = output.cwiseMax(0);
    }
    activations_.push_back(std::move(output));
  }
  // Softmax, cross entropy and its derivative: probabilities − (1 at the right class), over samples.
  const MatrixXf& scores = activations_.back();
  const auto count = static_cast<float>(samples.count());
  d_output_.resize(scores.rows(), scores.cols());
  num_correct_ = 0;
  float loss = 0;
  for (Eigen::Index sample = 0; sample < scores.cols(); ++sample) {
    const int label = samples.labels[static_cast<std::size_t>(sample)];
    Eigen::Index best = 0;
    const float largest = scores.col(sample).maxCoeff(&best);
    const Eigen::ArrayXf exponentials = (scores.col(sample).array() - largest).exp();
    const float sum = exponentials.sum();
    loss -= std::log(exponentials(label) / sum);
    num_correct_ += best == label ? 1 : 0;
    d_output_.col(sample) = exponentials / (sum * count);
    d_output_(label, sample) -= 1 / count;
  }
  return loss / count;
}

void Mlp::backward(std::span<float> gradients, const std::function<void(std::size_t)>& ready) {
  MatrixXf d_output = d_output_;
  for (std::size_t layer = num_layers(); layer-- > 0;) {
    const MatrixXf& input = activations_[layer];
    Eigen::Map<MatrixXf>(gradients.data() + tensors_[2 * layer + 1].offset, widths_[layer + 1], 1) =
        d_output.rowwise().sum();
    ready(2 * layer + 1);
    Eigen::Map<MatrixXf>(gradients.data() + tensors_[2 * layer].offset, widths_[layer + 1], widths_[layer])
        .noalias() = d_output * input.transpose();
    ready(2 * layer);
    if (layer > 0) {
      // An input of 0 was cut off by ReLU: nothing flows through it.
      d_output =
          (weight(layer).transpose() * d_output).cwiseProduct((input.array() > 0).cast<float>().matrix());
    }
  }
}

void Mlp::step(std::span<const float> gradients, float rate) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i] -= rate * gradients[i];
  }
}

}  // namespace examples
