#include "tests/core/support/oracle.h"

#include <algorithm>
#include <cmath>

#include "tests/core/support/half.h"
#include "tests/core/support/reference_mlp.h"

namespace shardscope::testing {

Oracle::Oracle(const ModelSpec& model, const TrainingOptions& options, std::size_t parts,
               const WeightSource& weights, const BatchSource& batches)
    : model_(model),
      options_(options),
      parts_(parts),
      batches_(batches),
      weights_(read_weights(weights, model)),
      first_moment_(weights_.size()),
      second_moment_(weights_.size()) {}

double Oracle::step(std::int64_t t) {
  double loss = 0.0;
  std::vector<float> gradient = averaged_gradient(t, loss);
  double sum_of_squares = 0.0;
  for (float& g : gradient) {
    g /= static_cast<float>(options_.loss_scale);
    sum_of_squares += static_cast<double>(g) * g;
  }
  gradient_norm_ = std::sqrt(sum_of_squares);
  if (options_.clip_norm > 0) {
    const double coefficient = std::min(1.0, options_.clip_norm / (gradient_norm_ + 1e-6));
    for (float& g : gradient) {
      g *= static_cast<float>(coefficient);
    }
  }
  adam(t, gradient);
  return loss;
}

std::vector<float> Oracle::averaged_gradient(std::int64_t t, double& loss) const {
  const auto to = [](DType dtype) {
    return [dtype](double value) { return nearest(dtype, value); };
  };
  const auto rounded = to(options_.precision);
  const auto rounded_on_the_wire = to(options_.reduce_precision);
  const auto rounded_as_kept = to(options_.accumulate_precision());
  std::vector<double> parameters(weights_.begin(), weights_.end());
  for (double& p : parameters) {
    p = rounded(p);
  }
  const std::size_t rows = options_.global_batch / parts_;
  std::vector<double> sums(weights_.size());
  for (std::size_t part = 0; part < parts_; ++part) {
    const Batch batch =
        read_batch(batches_, model_, static_cast<std::size_t>(t - 1), part * rows, rows);
    const LossAndGradient local =
        loss_and_gradient(model_, parameters, batch, options_.loss_scale, rounded);
    loss += local.loss / static_cast<double>(parts_);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] = rounded_on_the_wire(sums[i] + local.gradient[i]);
    }
  }
  std::vector<float> averages;
  for (const double sum : sums) {
    const double average = rounded_on_the_wire(sum / static_cast<double>(parts_));
    averages.push_back(static_cast<float>(rounded_as_kept(average)));
  }
  return averages;
}

void Oracle::adam(std::int64_t t, const std::vector<float>& gradient) {
  const AdamOptions& o = options_.optimizer;
  // Coefficients are rounded to fp32 once: 1.0F - 0.999F would be off by 1e-5.
  const auto beta1 = static_cast<float>(o.beta1);
  const auto beta2 = static_cast<float>(o.beta2);
  const auto rest1 = static_cast<float>(1.0 - o.beta1);
  const auto rest2 = static_cast<float>(1.0 - o.beta2);
  const auto rate = static_cast<float>(o.learning_rate / (1.0 - std::pow(o.beta1, t)));
  const auto root = static_cast<float>(std::sqrt(1.0 - std::pow(o.beta2, t)));
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    float& p = weights_[i];
    float& m = first_moment_[i];
    float& v = second_moment_[i];
    float g = gradient[i];
    if (o.variant == AdamOptions::Variant::adamw) {
      p *= static_cast<float>(1.0 - o.learning_rate * o.weight_decay);
    } else {
      g += static_cast<float>(o.weight_decay) * p;
    }
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * g * g;
    p -= rate * m / (std::sqrt(v) / root + static_cast<float>(o.epsilon));
  }
}

OracleRun run_oracle(const ModelSpec& model, const TrainingOptions& options, std::size_t parts,
                     const WeightSource& weights, const BatchSource& batches) {
  Oracle oracle(model, options, parts, weights, batches);
  OracleRun run;
  for (std::size_t step = 0; step < options.steps; ++step) {
    run.losses.push_back(oracle.step(static_cast<std::int64_t>(step) + 1));
    run.gradient_norms.push_back(oracle.gradient_norm());
  }
  run.weights.assign(oracle.weights().begin(), oracle.weights().end());
  return run;
}

}  // namespace shardscope::testing
