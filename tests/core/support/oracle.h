// Training in one process without sharding, in plain loops: what every strategy must agree with.
#pragma once

#include <cstdint>
#include <vector>

#include "core/data/sources.h"
#include "core/training/options.h"

namespace shardscope::testing {

class Oracle {
 public:
  /// The batch is cut into `parts` as it is over that many ranks: the gradient is the mean of the
  /// parts' gradients, added in their order. References must outlive the oracle.
  Oracle(const ModelSpec& model, const TrainingOptions& options, std::size_t parts,
         const WeightSource& weights, const BatchSource& batches);

  /// Step t = 1, 2, ... on batch t - 1. Returns the mean loss before the update.
  double step(std::int64_t t);

  /// In torch order; the master weights if there are any.
  const std::vector<float>& weights() const { return weights_; }

  /// The norm of the last step's averaged, unscaled gradient.
  double gradient_norm() const { return gradient_norm_; }

 private:
  std::vector<float> averaged_gradient(std::int64_t t, double& loss) const;
  void adam(std::int64_t t, const std::vector<float>& gradient);

  const ModelSpec& model_;
  const TrainingOptions& options_;
  std::size_t parts_;
  const BatchSource& batches_;
  std::vector<float> weights_;
  std::vector<float> first_moment_;
  std::vector<float> second_moment_;
  double gradient_norm_ = 0;
};

/// A whole training by the oracle.
struct OracleRun {
  std::vector<double> losses;
  std::vector<double> gradient_norms;
  std::vector<double> weights;
};

OracleRun run_oracle(const ModelSpec& model, const TrainingOptions& options, std::size_t parts,
                     const WeightSource& weights, const BatchSource& batches);

}  // namespace shardscope::testing
