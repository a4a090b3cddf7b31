#include "core/training/zero_optimizer.h"

#include <algorithm>
#include <cmath>

#include "core/nn/adam.h"
#include "core/nn/cost.h"
#include "core/tensor/kernels.h"

namespace shardscope {

ZeroOptimizer::ZeroOptimizer(const Strategy& strategy, const TrainingOptions& options,
                             const ShardGeometry& geometry, ParameterStore& parameters,
                             GradientReducer& gradients, TrainingGroups& groups, const Reader& read)
    : strategy_(strategy),
      options_(options),
      geometry_(geometry),
      parameters_(parameters),
      gradients_(gradients),
      groups_(groups) {
  const auto allocate = [&](Category category, StateVector which) {
    Buffer buffer(state_memory(), category, DType::fp32,
                  geometry.owned_elements(groups.shard.rank()), groups.shard.storage());
    for (std::size_t u = 0; u < geometry.units().size(); ++u) {
      const OwnedPart own = geometry.owned(u, groups.shard.rank());
      read(which, geometry.units()[u].offset + own.begin, buffer.slice(own.offset, own.parameters));
    }
    return buffer;
  };
  if (options.has_master_weights()) {
    master_weights_ = allocate(Category::master_weights, StateVector::weights);
  }
  first_moment_ = allocate(Category::first_moment, StateVector::first_moment);
  second_moment_ = allocate(Category::second_moment, StateVector::second_moment);
}

MemoryLedger& ZeroOptimizer::state_memory() const {
  Device& device = groups_.shard.device();
  return is_on_host() ? device.host_memory() : device.memory();
}

UpdateReport ZeroOptimizer::step(std::int64_t t, double loss_scale, bool checks) {
  const std::vector<Tensor> gradients = gradients_.owned();
  UpdateReport report;
  // Of replicas, the first one reports.
  const bool reports =
      groups_.replicas.rank() == 0 && (strategy_.has_shards() || groups_.shard.rank() == 0);
  for (std::size_t u = 0; reports && u < gradients.size(); ++u) {
    report.sum_of_squares += sum_of_squares(gradients[u]) / (loss_scale * loss_scale);
  }
  // Where whole tensors have owners every rank has the averages of all tensors and asks no other.
  const std::vector<Tensor> known =
      strategy_.partition == Partition::tensor_owner ? std::vector{gradients_.kept()} : gradients;
  if (checks && any_overflow(known)) {
    report.skipped = true;
    return report;
  }
  if (options_.clip_norm > 0) {
    report.norm = global_norm(known, loss_scale);
  }
  const GradientScale scale = gradient_scale(loss_scale, report.norm);
  if (is_on_host()) {
    update_on_host(t, gradients, scale);
  } else {
    update(t, gradients, scale);
  }
  parameters_.publish();
  return report;
}

double ZeroOptimizer::sum_over_ranks(double value, Purpose purpose) {
  Buffer sum(groups_.shard.device().memory(), Category::communication_buckets, DType::fp32, 1,
             groups_.shard.storage());
  if (sum.tensor().is_real()) {
    *sum.tensor().fp32() = static_cast<float>(value);
  }
  if (strategy_.cuts_shards()) {  // Else all were reduced everywhere.
    groups_.shard
        .all_reduce(ChunkedTensor::even(sum.tensor(), groups_.shard.world_size()), purpose)
        ->wait();
  }
  return sum.tensor().is_real() ? static_cast<double>(*sum.tensor().fp32()) : 0.0;
}

bool ZeroOptimizer::any_overflow(const std::vector<Tensor>& gradients) {
  const bool mine = !std::all_of(gradients.begin(), gradients.end(), is_finite);
  std::size_t elements = 0;
  for (const Tensor& gradient : gradients) {
    elements += gradient.count;
  }
  groups_.shard.device().compute("overflow",
                                 sum_of_squares_cost(elements, options_.accumulate_precision()));
  return sum_over_ranks(mine ? 1.0 : 0.0, Purpose::overflow) > 0.0;
}

// torch's clip_grad_norm_ and DeepSpeed's scaled_global_norm: the root of the summed squares.
// Shards' sums are all_reduced, padding being zero; unscaled, since fp32 may not hold the square of
// the scale.
double ZeroOptimizer::global_norm(const std::vector<Tensor>& gradients, double loss_scale) {
  double squares = 0;
  std::size_t elements = 0;
  for (const Tensor& gradient : gradients) {
    squares += sum_of_squares(gradient);
    elements += gradient.count;
  }
  groups_.shard.device().compute("norm",
                                 sum_of_squares_cost(elements, options_.accumulate_precision()));
  return std::sqrt(sum_over_ranks(squares / (loss_scale * loss_scale), Purpose::norm));
}

// torch unscales, then multiplies by min(1, clip / (norm + 1e-6)). DeepSpeed divides once, by
// loss_scale max(1, (norm + 1e-6) / clip).
GradientScale ZeroOptimizer::gradient_scale(double loss_scale, std::optional<double> norm) const {
  if (!norm.has_value()) {
    return {.unscale = static_cast<float>(1.0 / loss_scale)};
  }
  const double excess = (*norm + 1e-6) / options_.clip_norm;
  if (strategy_.framework == Framework::deepspeed) {
    return {.unscale = static_cast<float>(1.0 / (loss_scale * std::max(1.0, excess)))};
  }
  return {.unscale = static_cast<float>(1.0 / loss_scale),
          .clip = static_cast<float>(std::min(1.0, 1.0 / excess))};
}

Tensor ZeroOptimizer::state(const Buffer& buffer, std::size_t unit) const {
  const OwnedPart own = geometry_.owned(unit, groups_.shard.rank());
  return buffer.slice(own.offset, own.count);
}

// All at once, or as many elements at a time as are copied to fp32.
void ZeroOptimizer::update(std::int64_t t, const std::vector<Tensor>& gradients,
                           GradientScale scale) {
  Device& device = groups_.shard.device();
  const std::size_t owned = geometry_.owned_elements(groups_.shard.rank());
  const DType dtype = options_.accumulate_precision();
  const bool copies = strategy_.fp32_gradient_copy > 0 && dtype != DType::fp32;
  const std::size_t group =
      copies ? std::min<std::uint64_t>(strategy_.fp32_gradient_copy, owned) : owned;
  Buffer copy;
  if (copies) {
    copy = Buffer(device.memory(), Category::gradients, DType::fp32, group, groups_.shard.storage(),
                  Contents::undefined);
  }
  for (std::size_t begin = 0; begin < owned; begin += group) {
    const std::size_t end = std::min(begin + group, owned);
    if (copies) {
      device.compute("convert", convert_cost(end - begin, dtype, DType::fp32));
    }
    device.compute("adam",
                   adam_cost(end - begin, options_.precision, copies ? DType::fp32 : dtype));
    update_range(t, begin, end, gradients, scale, copy.tensor());
  }
}

// Gradients come, unless they are there; parameters go back.
void ZeroOptimizer::update_on_host(std::int64_t t, const std::vector<Tensor>& gradients,
                                   GradientScale scale) {
  Device& device = groups_.shard.device();
  const std::size_t owned = geometry_.owned_elements(groups_.shard.rank());
  if (!has_gradients_on_host(strategy_, options_.optimizer_on_host)) {
    device.on_host(
        "gradients to host",
        {.link_bytes = owned * size_of(options_.accumulate_precision()), .updated_parameters = 0});
  }
  device.on_host("adam on host", {.link_bytes = 0, .updated_parameters = owned});
  update_range(t, 0, owned, gradients, scale, Tensor{});
  device.on_host("parameters to device",
                 {.link_bytes = owned * size_of(options_.precision), .updated_parameters = 0});
}

// Elements [begin, end) of the shard layout. `copy` has memory for them in fp32, or no elements.
void ZeroOptimizer::update_range(std::int64_t t, std::size_t begin, std::size_t end,
                                 const std::vector<Tensor>& gradients, GradientScale scale,
                                 Tensor copy) {
  const std::vector<Tensor> weights = owned_weights();
  const std::vector<Tensor> parameters = parameters_.owned();
  for (std::size_t u = 0; u < geometry_.units().size(); ++u) {
    const OwnedPart own = geometry_.owned(u, groups_.shard.rank());
    const std::size_t from = std::max(begin, own.offset);
    const std::size_t to = std::min(end, own.offset + own.count);
    if (from >= to) {
      continue;
    }
    const auto part = [&](Tensor tensor) { return tensor.slice(from - own.offset, to - from); };
    Tensor gradient = part(gradients[u]);
    if (copy.count > 0) {
      const Tensor fp32 = copy.slice(from - begin, to - from);
      convert(fp32, gradient);
      gradient = fp32;
    }
    adam_update(
        options_.optimizer, t, scale,
        {.parameters = part(weights[u]),
         .gradients = gradient,
         .first_moment = first_moment_.slice(from, to - from),
         .second_moment = second_moment_.slice(from, to - from),
         .rounded_parameters = options_.has_master_weights() ? part(parameters[u]) : Tensor{}});
  }
}

std::vector<Tensor> ZeroOptimizer::owned_weights() const {
  if (!options_.has_master_weights()) {
    return parameters_.owned();
  }
  std::vector<Tensor> tensors;
  for (std::size_t u = 0; u < geometry_.units().size(); ++u) {
    tensors.push_back(state(master_weights_, u));
  }
  return tensors;
}

}  // namespace shardscope
