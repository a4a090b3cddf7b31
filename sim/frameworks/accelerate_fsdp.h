// The part of an Accelerate configuration that FSDP is described by.
#pragma once

#include "sim/frameworks/key_table.h"

namespace shardscope {

/// fsdp_config and parallelism_config of the file whose top is `top`: the strategy, its options,
/// what is offloaded or computed again.
void read_accelerate_fsdp(ConfigBlock& top, ConfigReading& reading);

/// Refuses parallelism_config where FSDP is not used.
void refuse_accelerate_parallelism(ConfigBlock& top, ConfigReading& reading);

}  // namespace shardscope
