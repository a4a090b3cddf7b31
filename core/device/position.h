// Where a rank is in its training: what its time and its memory are counted to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace shardscope {

enum class Phase { initialization, forward, backward, optimizer, checkpoint };

std::string_view name(Phase phase);

struct TrainingPosition {
  std::int64_t step = 0;  ///< 0 before the first step.
  Phase phase = Phase::initialization;
  std::optional<std::size_t> layer;  ///< None where no single layer is concerned.
};

}  // namespace shardscope
