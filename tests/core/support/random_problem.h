// Random small trainings, each a function of its seed.
#pragma once

#include <cstdint>
#include <string>

#include "core/nn/model.h"
#include "core/training/options.h"

namespace shardscope::testing {

struct RandomProblem {
  explicit RandomProblem(std::uint64_t seed);

  /// Every option that was drawn.
  std::string text() const;

  std::uint64_t seed;
  ModelSpec model;
  TrainingOptions options;
  int world_size = 1;
};

}  // namespace shardscope::testing
