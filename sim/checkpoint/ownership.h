// Which rank owns which elements under a strategy.
#pragma once

#include "core/nn/model.h"
#include "core/training/strategy.h"
#include "sim/checkpoint/layout.h"

namespace shardscope {

/// By rank, what it saves: its shards without padding. Of a state that several ranks hold, the
/// first of them saves it.
Ownership owned_ranges(const Strategy& strategy, const ModelSpec& model, int world_size);

}  // namespace shardscope
