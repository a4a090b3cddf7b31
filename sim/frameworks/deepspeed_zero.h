// The block zero_optimization of a DeepSpeed configuration.
#pragma once

#include <optional>

#include "sim/frameworks/key_table.h"

namespace shardscope {

/// Reads it from the file whose top is `top`: the strategy, its options, what is offloaded. Its
/// stage, which is `instead` if that is given.
int read_deepspeed_zero(ConfigBlock& top, std::optional<int> instead, const ResolveAuto& resolve,
                        ConfigReading& reading);

}  // namespace shardscope
