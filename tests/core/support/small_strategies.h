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

/// Whether a scenario's options.overlap concerns the preset.
bool has_overlap(const Strategy& strategy);

/// As that option, with the buckets as they are.
void set_overlap(Strategy& strategy, bool overlap);

/// All presets with sizes, overlap, accumulation, prefetching and groups drawn from the seed.
std::vector<Strategy> random_strategies(std::uint64_t seed);

}  // namespace shardscope::testing
