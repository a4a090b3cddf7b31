// The part of an Accelerate configuration that DeepSpeed is described by.
#pragma once

#include <filesystem>
#include <vector>

#include "sim/frameworks/key_table.h"

namespace shardscope {

/// deepspeed_config of the file at `path`, whose top is `top`: its own keys, or the file of
/// DeepSpeed that it names. `context` is that of the training, with its ranks.
void read_accelerate_deepspeed(ConfigBlock& top, const std::filesystem::path& path,
                               const ConfigContext& context, ConfigReading& reading,
                               std::vector<Fault>& faults);

}  // namespace shardscope
