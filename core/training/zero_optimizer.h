// The update: check and clip the gradients, Adam on what this rank owns, publish the result.
//
// With ZeRO-1's choices a step is reduce_scatter, Adam on the shard, all_gather (Rajbhandari et al.
// 2020, arXiv 1910.02054, section 5.1). The gradients were reduced before (GradientReducer); where
// parameters stay sharded the last is not needed; with nothing sharded it is the optimizer of plain
// data parallelism.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/training/gradient_reducer.h"
#include "core/training/loss_scaler.h"
#include "core/training/options.h"
#include "core/training/parameter_store.h"
#include "core/training/training_state.h"

namespace shardscope {

/// What an update did.
struct UpdateReport {
  /// A gradient was infinite or NaN under dynamic loss scaling: nothing was updated.
  bool skipped = false;

  /// Global L2 norm of the averaged, unscaled gradient before clipping; only if it was needed.
  std::optional<double> norm;

  /// This rank's part of the squared norm in fp64, for reports: outside the simulation. Of ranks
  /// that own the same elements one reports them. 0 if shape-only.
  double sum_of_squares = 0;
};

class ZeroOptimizer {
 public:
  /// Fills a vector's elements from `begin` on, in torch order; `out` is fp32.
  using Reader = std::function<void(StateVector which, std::size_t begin, Tensor out)>;

  /// Allocates the states of the rank's owned elements (throws OutOfMemory): with half-type
  /// parameters the fp32 master weights, and both moments; and reads them. In fp32 the weights are
  /// the parameters. References must outlive the optimizer.
  ZeroOptimizer(const Strategy& strategy, const TrainingOptions& options,
                const ShardGeometry& geometry, ParameterStore& parameters,
                GradientReducer& gradients, TrainingGroups& groups, const Reader& read);

  /// Update t = 1, 2, ... of gradients that were scaled by loss_scale. `checks`: look for overflow.
  UpdateReport step(std::int64_t t, double loss_scale, bool checks);

  /// The owned fp32 weights, a tensor per unit: master weights, or the fp32 parameters themselves.
  std::vector<Tensor> owned_weights() const;

  /// Master weights (no elements in fp32 training) and moments, in the shard layout.
  Tensor master_weights() const { return master_weights_.tensor(); }
  Tensor first_moment() const { return first_moment_.tensor(); }
  Tensor second_moment() const { return second_moment_.tensor(); }

 private:
  bool any_overflow(const std::vector<Tensor>& gradients);
  double global_norm(const std::vector<Tensor>& gradients, double loss_scale);
  GradientScale gradient_scale(double loss_scale, std::optional<double> norm) const;
  bool is_on_host() const { return has_states_on_host(strategy_, options_.optimizer_on_host); }
  MemoryLedger& state_memory() const;
  void update(std::int64_t t, const std::vector<Tensor>& gradients, GradientScale scale);
  void update_on_host(std::int64_t t, const std::vector<Tensor>& gradients, GradientScale scale);
  void update_range(std::int64_t t, std::size_t begin, std::size_t end,
                    const std::vector<Tensor>& gradients, GradientScale scale, Tensor copy);
  double sum_over_ranks(double value, Purpose purpose);
  Tensor state(const Buffer& buffer, std::size_t unit) const;

  const Strategy& strategy_;
  const TrainingOptions& options_;
  const ShardGeometry& geometry_;
  ParameterStore& parameters_;
  GradientReducer& gradients_;
  TrainingGroups& groups_;
  Buffer master_weights_;
  Buffer first_moment_;
  Buffer second_moment_;
};

}  // namespace shardscope
