// A random state of a model, cut among ranks, for tests of checkpoints.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/training/strategy.h"
#include "sim/checkpoint/ownership.h"
#include "sim/checkpoint/writer.h"

namespace shardscope::testing {

struct SavedState {
  SavedState(const ModelSpec& model, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (std::vector<float>& vector : vectors) {
      vector.resize(model.parameters());
      for (float& value : vector) {
        value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));  // NaN as well.
      }
    }
    progress = {.steps = 20, .updates = 18, .loss_scale = {65536, 3, 2}};
  }

  /// By rank, views of the vectors.
  std::vector<std::vector<OwnedState>> cut(const Ownership& ownership) {
    std::vector<std::vector<OwnedState>> owned(ownership.size());
    for (std::size_t rank = 0; rank < ownership.size(); ++rank) {
      for (const auto& [begin, end] : ownership[rank]) {
        const auto part = [begin = begin, end = end](std::vector<float>& vector) {
          return Tensor::of(vector.data() + begin, end - begin);
        };
        owned[rank].push_back({begin, part(vectors[0]), part(vectors[1]), part(vectors[2])});
      }
    }
    return owned;
  }

  std::array<std::vector<float>, 3> vectors;  ///< In the order of kStateVectors.
  TrainingProgress progress;
};

inline CheckpointRun run_of(const ModelSpec& model, const std::string& strategy, int world_size) {
  return {.program = "shardscope 0.1.0",
          .scenario = "a \"name\" \xc3\xa9",
          .model = model,
          .precision = DType::bf16,
          .strategy = strategy,
          .world_size = world_size,
          .optimizer = {.variant = AdamOptions::Variant::adamw, .weight_decay = 1.0 / 3}};
}

inline Ownership owned_by(const std::string& strategy, const ModelSpec& model, int world_size) {
  return owned_ranges(*find_strategy(strategy), model, world_size);
}

}  // namespace shardscope::testing
