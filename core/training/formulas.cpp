#include "core/training/formulas.h"

#include <algorithm>

namespace shardscope {
namespace {

std::uint64_t ceil_divide(std::uint64_t count, int parts) {
  const auto n = static_cast<std::uint64_t>(parts);
  return count / n + (count % n != 0 ? 1 : 0);
}

std::vector<std::uint64_t> unit_sizes(const Strategy& strategy, const ModelSpec& model) {
  if (strategy.reduction_time == ReductionTime::after_backward) {
    return {model.parameters()};
  }
  std::vector<std::uint64_t> sizes;
  for (std::size_t l = 0; l < model.layer_count(); ++l) {
    sizes.push_back(model.layer(l).elements());
  }
  return sizes;
}

CategoryBytes state_bytes(const Strategy& strategy, const std::vector<std::uint64_t>& units,
                          int world_size, DType precision) {
  std::uint64_t whole = 0;
  std::uint64_t shard = 0;
  for (const std::uint64_t elements : units) {
    const std::uint64_t k = ceil_divide(elements, world_size);
    shard += k;
    whole += strategy.optimizer == Placement::sharded ? k * static_cast<std::uint64_t>(world_size)
                                                      : elements;
  }
  const auto held = [&](Placement placement) {
    return placement == Placement::sharded ? shard : whole;
  };
  const std::uint64_t b = size_of(precision);
  const std::uint64_t fp32_state = 4 * held(strategy.optimizer);
  CategoryBytes bytes{};
  const auto set = [&](Category category, std::uint64_t value) {
    bytes[static_cast<std::size_t>(category)] = value;
  };
  set(Category::parameters, b * held(strategy.parameters));
  set(Category::gradients, b * held(strategy.gradients));
  set(Category::master_weights, precision == DType::fp32 ? 0 : fp32_state);
  set(Category::first_moment, fp32_state);
  set(Category::second_moment, fp32_state);
  return bytes;
}

// Elements of chunk `index` when S elements are cut into ceil(S / N).
std::uint64_t chunk_size(std::uint64_t elements, int world_size, int index) {
  const std::uint64_t k = ceil_divide(elements, world_size);
  const std::uint64_t begin = std::min(elements, k * static_cast<std::uint64_t>(index));
  return std::min(elements - begin, k);
}

std::uint64_t ring_reduce_scatter(std::uint64_t elements, int world_size, int rank) {
  return elements - chunk_size(elements, world_size, rank);
}

std::uint64_t ring_all_gather(std::uint64_t elements, int world_size, int rank) {
  return elements - chunk_size(elements, world_size, (rank + 1) % world_size);
}

}  // namespace

CategoryBytes predicted_state_bytes(const Strategy& strategy, const ModelSpec& model,
                                    int world_size, DType precision) {
  return state_bytes(strategy, unit_sizes(strategy, model), world_size, precision);
}

CategoryBytes model_state_bytes(const Strategy& strategy, std::uint64_t parameters, int world_size,
                                DType precision) {
  return state_bytes(strategy, {parameters}, world_size, precision);
}

std::uint64_t predicted_sent_bytes(const Strategy& strategy, const ModelSpec& model, int world_size,
                                   int rank, DType precision, DType reduce_precision) {
  std::uint64_t gradients = 0;
  std::uint64_t parameters = 0;
  for (const std::uint64_t elements : unit_sizes(strategy, model)) {
    const std::uint64_t padded =
        ceil_divide(elements, world_size) * static_cast<std::uint64_t>(world_size);
    const std::uint64_t gather = ring_all_gather(padded, world_size, rank);
    gradients += strategy.reduction == Reduction::all_reduce
                     ? ring_reduce_scatter(elements, world_size, rank) +
                           ring_all_gather(elements, world_size, rank)
                     : ring_reduce_scatter(padded, world_size, rank);
    if (strategy.parameters == Placement::sharded) {
      parameters += 2 * gather;
    } else if (strategy.optimizer == Placement::sharded) {
      parameters += gather;
    }
  }
  return gradients * size_of(reduce_precision) + parameters * size_of(precision);
}

}  // namespace shardscope
