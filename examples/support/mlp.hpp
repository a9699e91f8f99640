#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <Eigen/Core>

/// A multilayer perceptron for the training programs: linear layers, ReLU between them, softmax and cross
/// entropy at the end. Just enough to have gradients worth synchronising.
namespace examples {

/// Samples to learn from: a column of inputs and a class each.
struct Samples {
  Eigen::MatrixXf inputs;
  std::vector<int> labels;

  int count() const { return static_cast<int>(labels.size()); }
  /// The samples of these numbers.
  Samples pick(std::span<const int> numbers) const;
};

/// A parameter tensor's place among all parameters, and among all gradients.
struct ParameterTensor {
  std::size_t offset = 0;
  std::size_t count = 0;
};

class Mlp {
 public:
  /// `widths`: inputs, hidden layers …, classes. Equal seeds give equal parameters.
  Mlp(std::vector<int> widths, unsigned seed);

  /// All parameters in one vector: weight and bias of the first layer, of the second, …
  std::span<float> parameters() { return parameters_; }
  /// Weight and bias of each layer, in this order.
  const std::vector<ParameterTensor>& tensors() const { return tensors_; }

  /// Mean loss over the samples; keeps what backward needs.
  float forward(const Samples& samples);
  /// How many samples of the last forward were classified correctly.
  int num_correct() const { return num_correct_; }

  /// Gradients of the last forward's loss, laid out as the parameters. The last layer comes first; `ready` is
  /// called with the number of each tensor as soon as its gradient is there.
  void backward(std::span<float> gradients, const std::function<void(std::size_t tensor)>& ready);

  /// parameter -= rate · gradient
  void step(std::span<const float> gradients, float rate);

 private:
  using ConstMap = Eigen::Map<const Eigen::MatrixXf>;
  std::size_t num_layers() const { return widths_.size() - 1; }
  ConstMap weight(std::size_t layer) const;
  ConstMap bias(std::size_t layer) const;

  std::vector<int> widths_;
  std::vector<float> parameters_;
  std::vector<ParameterTensor> tensors_;
  std::vector<Eigen::MatrixXf> activations_;  ///< The input of each layer, then the output of the last.
  Eigen::MatrixXf d_output_;                  ///< Derivative of the loss, by the last layer's output.
  int num_correct_ = 0;
};

}  // namespace examples
