// What DeepSpeed's configuration means, once it is parsed.
#pragma once

#include "sim/frameworks/key_table.h"

namespace shardscope {

/// Makes reading.config the plan of the file, with an item per key. `context.ranks` may be 0.
/// Accelerate's own keys become such a file too (accelerate_config.cpp).
void read_deepspeed_settings(const ConfigValue& file, const ConfigContext& context,
                             ConfigReading& reading);

}  // namespace shardscope
