// Presets with buckets, prefetches and groups small enough for the tests' models.
#pragma once

#include <cstdint>
#include <vector>

#include "core/training/strategy.h"

namespace shardscope::testing {

/// The preset with every size that it has cut down to a few elements.
Strategy small(Strategy strategy);

/// All presets, small. They keep their names.
const std::vector<Strategy>& small_strategies();

/// All presets with sizes, overlap, prefetching and groups drawn from the seed.
std::vector<Strategy> random_strategies(std::uint64_t seed);

}  // namespace shardscope::testing
