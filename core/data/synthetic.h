// Weights and batches made from a seed, for scenarios that bring no files.
#pragma once

#include <cstdint>
#include <vector>

#include "core/data/sources.h"

namespace shardscope {

/// torch.nn.Linear's default: weights and biases uniform in [-1, 1) / sqrt(in).
class SyntheticWeights final : public WeightSource {
 public:
  SyntheticWeights(ModelSpec model, std::uint64_t seed);

  void read(std::size_t layer, LayerTensor which, std::size_t first, Tensor out) const override;

 private:
  ModelSpec model_;
  std::uint64_t seed_;
};

/// Inputs uniform in [-1, 1); targets from a fixed random teacher, y = A tanh(B x) + c with up to 4
/// hidden units (mse), or the index of the largest element of A tanh(B x) (cross_entropy). The
/// entries of A, B and c are uniform and scaled so that mse targets have a variance of about 1.
/// A row does not depend on how rows are spread over ranks.
class SyntheticBatches final : public BatchSource {
 public:
  SyntheticBatches(const ModelSpec& model, std::uint64_t seed, std::size_t global_batch);

  void read(std::size_t step, std::size_t first_row, std::size_t rows, Tensor x,
            Tensor y) const override;

 private:
  void teach(const float* x, float* y) const;

  ModelSpec model_;
  std::uint64_t seed_;
  std::size_t global_batch_;
  std::size_t hidden_;
  std::vector<float> input_weights_;   // B, [in, hidden]
  std::vector<float> output_weights_;  // A, [hidden, out]
  std::vector<float> bias_;            // c, [out]
};

}  // namespace shardscope
