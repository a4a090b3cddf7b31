// The training step of one rank, written once for all strategies:
//
//   for each micro-step
//     forward   for each layer: acquire parameters, y = layer(x), release
//     backward  for each layer, last to first: acquire parameters, dW and dx, release, hand dW on
//   update      check and clip the gradients, Adam on what this rank owns, publish what others need
//
// With activation checkpointing backward runs the forward of a few layers again before them. What a
// strategy chooses lies in ParameterStore, GradientReducer and ZeroOptimizer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/data/sources.h"
#include "core/device/process_group.h"
#include "core/nn/model.h"
#include "core/training/activation_checkpoints.h"
#include "core/training/gradient_reducer.h"
#include "core/training/loss_scaler.h"
#include "core/training/options.h"
#include "core/training/parameter_store.h"
#include "core/training/shard_geometry.h"
#include "core/training/strategy.h"
#include "core/training/training_state.h"
#include "core/training/zero_optimizer.h"

namespace shardscope {

/// What a step shows. The loss and the sum of squares are computed outside the simulation in fp64,
/// at no simulated cost; zero if shape-only.
struct StepDiagnostics {
  double local_loss = 0;  ///< Mean over the rank's rows, before the update.
  double loss_scale = 1;  ///< That the step used.
  UpdateReport update;
};

class Trainer {
 public:
  /// All references must outlive the trainer. `world` is all ranks; world size x micro-batches
  /// divides options.global_batch, the strategy's shard group size the world size. `batches` may be
  /// null if the group is shape-only.
  Trainer(const Strategy& strategy, const ModelSpec& model, const TrainingOptions& options,
          ProcessGroup& world, const BatchSource* batches);

  /// Allocates all states and reads the first weights. Throws OutOfMemory.
  void initialize(const WeightSource& source);

  /// The same from a saved state, at any world size and strategy: the next step is the one after
  /// those it has done.
  void initialize(const StateSource& source);

  /// The next step, on the next batch. Throws OutOfMemory and LossScaleExhausted.
  StepDiagnostics step();

  /// Ranks are those of the shard group.
  const ShardGeometry& geometry() const { return geometry_; }
  int shard_rank() const { return groups_.shard.rank(); }

  TrainingProgress progress() const;

  /// What this rank owns, without padding; parts of no elements are left out. In fp32 training and
  /// between steps valid until the next step. Ranks of which others hold the same (replicas, or all
  /// ranks but the first where nothing is sharded) own nothing.
  std::vector<OwnedState> owned_state() const;

  /// A model state as the rank holds it: in the geometry's full or shard layout, as the strategy
  /// places it. No elements for other categories. After initialize.
  Tensor held(Category category) const;

 private:
  void initialize(const ParameterStore::Reader& read_weights, const ZeroOptimizer::Reader& read);
  void load_batch(std::size_t micro_step);
  double micro_step(std::size_t index);
  double forward();
  void backward();
  void recompute(std::size_t layer);
  void forward_layer(std::size_t layer);
  void backward_layer(std::size_t layer, Buffer& dy);
  Tensor input_of(std::size_t layer) const;
  Buffer activation(std::size_t layer);
  Buffer memory(Category category, DType dtype, std::size_t elements);
  Device& device() const { return groups_.shard.device(); }

  const Strategy& strategy_;
  const ModelSpec& model_;
  const TrainingOptions& options_;
  const BatchSource* batches_;
  TrainingGroups groups_;
  ShardGeometry geometry_;
  std::size_t first_row_;  // Of this rank, in the global batch.
  std::size_t rows_;       // Of this rank in a micro-step.
  ActivationCheckpoints checkpoints_;

  LossScaler loss_scaler_;
  std::int64_t steps_ = 0;    // Done, also before a saved state.
  std::int64_t updates_ = 0;  // That were not skipped.
  std::optional<ParameterStore> parameters_;
  std::optional<GradientReducer> gradients_;
  std::optional<ZeroOptimizer> optimizer_;
  Buffer inputs_;
  Buffer targets_;
  std::vector<Buffer> outputs_;  // By layer: what is held of its output,
  std::vector<Buffer> saved_;    // and of what else its backward needs.
  Buffer tied_gradient_;         // The last layer's part of the first tensor's gradient.
};

}  // namespace shardscope
