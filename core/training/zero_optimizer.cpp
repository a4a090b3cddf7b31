#include "core/training/zero_optimizer.h"

#include "core/nn/adam.h"
#include "core/tensor/kernels.h"

namespace shardscope {

ZeroOptimizer::ZeroOptimizer(const Strategy& strategy, const TrainingOptions& options,
                             const ShardGeometry& geometry, const ModelSpec& model,
                             ParameterStore& parameters, GradientReducer& gradients,
                             ProcessGroup& group, const WeightSource& source)
    : options_(options),
      geometry_(geometry),
      parameters_(parameters),
      gradients_(gradients),
      group_(group),
      counts_gradients_(strategy.optimizer == Placement::sharded || group.rank() == 0) {
  const auto allocate = [&](Category category) {
    return Buffer(group.device().memory(), category, DType::fp32, geometry.owned_elements(),
                  group.storage());
  };
  if (options.has_master_weights()) {
    master_weights_ = allocate(Category::master_weights);
    for (const ShardUnit& unit : geometry.units()) {
      const std::size_t count = geometry.owned_parameters(unit, group.rank());
      read_parameters(source, model, unit.offset + geometry.owned_begin(unit, group.rank()),
                      master_weights_.slice(unit.owned_offset, count));
    }
  }
  first_moment_ = allocate(Category::first_moment);
  second_moment_ = allocate(Category::second_moment);
}

void ZeroOptimizer::step(std::int64_t t) {
  group_.device().enter(Phase::backward);
  gradients_.finish();
  group_.device().enter(Phase::optimizer);
  update(t);
  parameters_.publish();
}

void ZeroOptimizer::update(std::int64_t t) {
  const std::vector<Tensor> weights = owned_weights();
  const std::vector<Tensor> gradients = gradients_.owned();
  const std::vector<Tensor> parameters = parameters_.owned();
  if (geometry_.owned_elements() > 0) {
    group_.device().compute("adam", adam_cost(geometry_.owned_elements(), options_.precision));
  }
  gradient_sum_of_squares_ = 0.0;
  for (std::size_t i = 0; i < geometry_.units().size(); ++i) {
    const ShardUnit& unit = geometry_.units()[i];
    if (counts_gradients_) {
      gradient_sum_of_squares_ +=
          sum_of_squares(gradients[i]) / (options_.loss_scale * options_.loss_scale);
    }
    adam_update(options_.optimizer, t, options_.loss_scale,
                {.parameters = weights[i],
                 .gradients = gradients[i],
                 .first_moment = state(first_moment_, unit),
                 .second_moment = state(second_moment_, unit),
                 .rounded_parameters = options_.has_master_weights() ? parameters[i] : Tensor{}});
  }
}

std::vector<Tensor> ZeroOptimizer::owned_weights() const {
  if (!options_.has_master_weights()) {
    return parameters_.owned();
  }
  std::vector<Tensor> tensors;
  for (const ShardUnit& unit : geometry_.units()) {
    tensors.push_back(state(master_weights_, unit));
  }
  return tensors;
}

}  // namespace shardscope
