// The training step of one rank, written once for all strategies:
//
//   forward    for each layer: acquire parameters, y = layer(x), release
//   backward   for each layer, last to first: acquire parameters, dW and dx, release, hand dW on
//   update     reduce what is left, Adam on what this rank owns, publish what others need
//
// What a strategy chooses lies in ParameterStore, GradientReducer and ZeroOptimizer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/data/sources.h"
#include "core/device/process_group.h"
#include "core/nn/model.h"
#include "core/training/gradient_reducer.h"
#include "core/training/options.h"
#include "core/training/parameter_store.h"
#include "core/training/shard_geometry.h"
#include "core/training/strategy.h"
#include "core/training/zero_optimizer.h"

namespace shardscope {

/// What a step shows; computed outside the simulation in fp64, at no simulated cost. Zero if
/// shape-only.
struct StepDiagnostics {
  double local_loss = 0;               ///< Mean over the rank's rows, before the update.
  double gradient_sum_of_squares = 0;  ///< This rank's part (ZeroOptimizer).
};

class Trainer {
 public:
  /// All references must outlive the trainer. World size divides options.global_batch. `batches`
  /// may be null if the group is shape-only.
  Trainer(const Strategy& strategy, const ModelSpec& model, const TrainingOptions& options,
          ProcessGroup& group, const BatchSource* batches);

  /// Allocates all states and reads the first weights. Throws OutOfMemory.
  void initialize(const WeightSource& source);

  /// Step t = 1, 2, ... on batch t - 1. Throws OutOfMemory.
  StepDiagnostics step(std::int64_t t);

  const ShardGeometry& geometry() const { return geometry_; }

  /// The owned fp32 weights, a tensor per unit of the geometry.
  std::vector<Tensor> owned_weights() const { return optimizer_->owned_weights(); }

  /// A model state as the rank holds it: in the geometry's full or shard layout, as the strategy
  /// places it. No elements for other categories. After initialize.
  Tensor held(Category category) const;

 private:
  void load_batch(std::int64_t t);
  double forward();
  void backward();
  Tensor input_of(std::size_t layer) const;
  Buffer activation(std::size_t width);
  Device& device() const { return group_.device(); }

  const Strategy& strategy_;
  const ModelSpec& model_;
  const TrainingOptions& options_;
  ProcessGroup& group_;
  const BatchSource* batches_;
  ShardGeometry geometry_;
  std::size_t rows_;  // Of this rank.

  std::optional<ParameterStore> parameters_;
  std::optional<GradientReducer> gradients_;
  std::optional<ZeroOptimizer> optimizer_;
  Buffer inputs_;
  Buffer targets_;
  std::vector<Buffer> outputs_;  // Of the layers so far; empty between steps.
};

}  // namespace shardscope
