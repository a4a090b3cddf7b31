// The update: reduce the gradients, Adam on what this rank owns, publish the result.
//
// With ZeRO-1's choices step() is reduce_scatter, Adam on the shard, all_gather (Rajbhandari et al.
// 2020, arXiv 1910.02054, section 5.1). Where gradients were already reduced during backward the
// first part is done; where parameters stay sharded the last is not needed; with nothing sharded it
// is the optimizer of plain data parallelism.
#pragma once

#include <cstdint>
#include <functional>

#include "core/training/gradient_reducer.h"
#include "core/training/options.h"
#include "core/training/parameter_store.h"

namespace shardscope {

class ZeroOptimizer {
 public:
  /// Allocates the states of the rank's owned elements (throws OutOfMemory): with half-type
  /// parameters the fp32 master weights, read from the source, and both moments. References must
  /// outlive the optimizer.
  ZeroOptimizer(const Strategy& strategy, const TrainingOptions& options,
                const ShardGeometry& geometry, const ModelSpec& model, ParameterStore& parameters,
                GradientReducer& gradients, ProcessGroup& group, const WeightSource& source);

  /// One update, t = 1, 2, ... Reducing what is left is the end of backward.
  void step(std::int64_t t);

  /// Sum of squares of the owned, averaged, unscaled gradients of the last step, in fp64 and
  /// outside the simulation. Ranks that own the same elements all report them.
  double gradient_sum_of_squares() const { return gradient_sum_of_squares_; }

  /// The owned fp32 weights, a tensor per unit: master weights, or the fp32 parameters themselves.
  std::vector<Tensor> owned_weights() const;

  /// Master weights (no elements in fp32 training) and moments, in the shard layout.
  Tensor master_weights() const { return master_weights_.tensor(); }
  Tensor first_moment() const { return first_moment_.tensor(); }
  Tensor second_moment() const { return second_moment_.tensor(); }

 private:
  void update(std::int64_t t);
  Tensor state(const Buffer& buffer, const ShardUnit& unit) const {
    return buffer.slice(unit.owned_offset, unit.owned_count);
  }

  const TrainingOptions& options_;
  const ShardGeometry& geometry_;
  ParameterStore& parameters_;
  GradientReducer& gradients_;
  ProcessGroup& group_;
  bool counts_gradients_;
  Buffer master_weights_;
  Buffer first_moment_;
  Buffer second_moment_;
  double gradient_sum_of_squares_ = 0.0;
};

}  // namespace shardscope
