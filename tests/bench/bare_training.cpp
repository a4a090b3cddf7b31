#include "tests/bench/bare_training.h"

#include <optional>

#include "core/data/generator.h"
#include "core/nn/adam.h"
#include "core/nn/linear.h"
#include "core/tensor/kernels.h"

namespace shardscope::bench {
namespace {

void fill(Tensor tensor) {
  std::vector<float> values(tensor.count);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 0.1F * uniform(1, i);
  }
  convert(tensor, Tensor::of(values.data(), values.size()));
}

}  // namespace

BareTraining::BareTraining(const Scenario& scenario, const Strategy& strategy)
    : scenario_(scenario),
      strategy_(strategy),
      geometry_(strategy, scenario.model, scenario.world_size),
      rows_(scenario.training.global_batch / static_cast<std::size_t>(scenario.world_size)),
      ranks_(static_cast<std::size_t>(scenario.world_size)) {
  const DType precision = scenario.training.precision;
  const auto buffer = [&](DType dtype, std::size_t count) {
    return Buffer(ledger_, Category::parameters, dtype, count, Storage::real);
  };
  for (RankMemory& rank : ranks_) {
    rank.parameters = buffer(precision, geometry_.full_elements());
    rank.gradients = buffer(precision, geometry_.full_elements());
    rank.weights = buffer(DType::fp32, geometry_.owned_elements(0));
    rank.first_moment = buffer(DType::fp32, geometry_.owned_elements(0));
    rank.second_moment = buffer(DType::fp32, geometry_.owned_elements(0));
    rank.inputs = buffer(precision, rows_ * scenario.model.input_width());
    rank.staging = buffer(precision, geometry_.units().front().full_count);
    fill(rank.parameters.tensor());
    fill(rank.weights.tensor());
    fill(rank.inputs.tensor());
    for (std::size_t l = 0; l < scenario.model.layer_count(); ++l) {
      rank.outputs.push_back(buffer(precision, rows_ * scenario.model.layer(l).out));
      rank.gradients_of_outputs.push_back(buffer(precision, rows_ * scenario.model.layer(l).out));
      fill(rank.gradients_of_outputs.back().tensor());
    }
  }
}

void BareTraining::run() {
  const bool gathers = strategy_.parameters == Placement::sharded;
  const bool publishes = !gathers && strategy_.optimizer == Placement::sharded;
  const auto gather_all = [&] {
    for (const ShardUnit& unit : geometry_.units()) {
      all_gather(parts(&RankMemory::parameters, unit), unit.shard);
    }
  };
  for (std::size_t t = 1; t <= scenario_.training.steps; ++t) {
    if (gathers) {
      gather_all();  // For forward.
      gather_all();  // For backward.
    }
    for (RankMemory& rank : ranks_) {
      forward(rank);
      for (std::size_t l = scenario_.model.layer_count(); l-- > 0;) {
        backward(rank, l);
      }
    }
    for (std::size_t unit = 0; unit < geometry_.units().size(); ++unit) {
      reduce(unit);
    }
    for (int rank = 0; rank < scenario_.world_size; ++rank) {
      update(static_cast<std::int64_t>(t), rank);
    }
    if (publishes) {
      gather_all();
    }
  }
}

LinearTensors BareTraining::layer(const Buffer& buffer, std::size_t index) const {
  const std::size_t weight = 2 * index;
  const ShardUnit& unit = geometry_.units()[geometry_.unit_of_tensor(weight)];
  return LinearTensors::together(scenario_.model.layer(index),
                                 buffer.slice(unit.full_offset + geometry_.offset_in_unit(weight),
                                              scenario_.model.layer(index).elements()));
}

void BareTraining::forward(RankMemory& rank) {
  const std::size_t layers = scenario_.model.layer_count();
  for (std::size_t l = 0; l < layers; ++l) {
    linear_forward(scenario_.model.layer(l), rows_,
                   l + 1 == layers ? std::nullopt : std::optional(scenario_.model.activation),
                   l == 0 ? rank.inputs.tensor() : rank.outputs[l - 1].tensor(),
                   layer(rank.parameters, l), rank.outputs[l].tensor());
  }
}

void BareTraining::backward(RankMemory& rank, std::size_t l) {
  const LinearShape shape = scenario_.model.layer(l);
  const Tensor x = l == 0 ? rank.inputs.tensor() : rank.outputs[l - 1].tensor();
  const Tensor dy = rank.gradients_of_outputs[l].tensor();
  linear_backward_parameters(shape, rows_, x, dy, layer(rank.gradients, l));
  if (l > 0) {
    const Tensor dx = rank.gradients_of_outputs[l - 1].tensor();
    linear_backward_input(shape, rows_, dy, layer(rank.parameters, l).weight, dx);
    activation_backward(scenario_.model.activation, x, dx);
  }
}

std::vector<Tensor> BareTraining::parts(Buffer RankMemory::*buffer, const ShardUnit& unit) {
  std::vector<Tensor> tensors;
  for (RankMemory& rank : ranks_) {
    tensors.push_back((rank.*buffer).slice(unit.full_offset, unit.full_count));
  }
  return tensors;
}

void BareTraining::reduce(std::size_t index) {
  const ShardUnit& unit = geometry_.units()[index];
  const std::vector<Tensor> gradients = parts(&RankMemory::gradients, unit);
  reduce_scatter(gradients, unit.shard);
  if (strategy_.reduction.collective == Reduction::all_reduce) {
    all_gather(gradients, unit.shard);
  }
  for (int rank = 0; rank < scenario_.world_size; ++rank) {
    const OwnedPart owned = geometry_.owned(index, rank);
    divide(gradients[static_cast<std::size_t>(rank)].slice(owned.begin, owned.count),
           static_cast<float>(scenario_.world_size));
  }
}

// Chunk c goes from rank c+1 around to rank c: received, then added.
void BareTraining::reduce_scatter(const std::vector<Tensor>& ranks, std::size_t chunk) {
  const Chunking chunking{ranks.front().count, chunk};
  const std::size_t n = ranks.size();
  for (std::size_t c = 0; c < n; ++c) {
    const std::size_t begin = chunking.offset(static_cast<int>(c));
    const std::size_t count = chunking.size(static_cast<int>(c));
    for (std::size_t hop = 1; hop < n; ++hop) {
      const std::size_t receiver = (c + hop + 1) % n;
      const Tensor received = ranks_[receiver].staging.slice(0, count);
      convert(received, ranks[(c + hop) % n].slice(begin, count));
      add(ranks[receiver].slice(begin, count), received);
    }
  }
}

void BareTraining::all_gather(const std::vector<Tensor>& ranks, std::size_t chunk) {
  const Chunking chunking{ranks.front().count, chunk};
  const std::size_t n = ranks.size();
  for (std::size_t c = 0; c < n; ++c) {
    const std::size_t begin = chunking.offset(static_cast<int>(c));
    const std::size_t count = chunking.size(static_cast<int>(c));
    for (std::size_t hop = 0; hop + 1 < n; ++hop) {
      convert(ranks[(c + hop + 1) % n].slice(begin, count),
              ranks[(c + hop) % n].slice(begin, count));
    }
  }
}

void BareTraining::update(std::int64_t t, int rank) {
  RankMemory& memory = ranks_[static_cast<std::size_t>(rank)];
  for (std::size_t unit = 0; unit < geometry_.units().size(); ++unit) {
    const OwnedPart owned = geometry_.owned(unit, rank);
    const auto state = [&](const Buffer& buffer) {
      return buffer.slice(owned.offset, owned.count);
    };
    const std::size_t begin = geometry_.units()[unit].full_offset + owned.begin;
    adam_update(scenario_.training.optimizer, t,
                GradientScale::of_loss_scale(scenario_.training.loss_scale),
                {.parameters = state(memory.weights),
                 .gradients = memory.gradients.slice(begin, owned.count),
                 .first_moment = state(memory.first_moment),
                 .second_moment = state(memory.second_moment),
                 .rounded_parameters = memory.parameters.slice(begin, owned.count)});
  }
}

}  // namespace shardscope::bench
