// Every key of an Accelerate configuration (commands/config/config_args.py, commands/launch.py and
// utils/dataclasses.py at 16cb6eb8), with its default and what it means here.
#pragma once

#include "sim/frameworks/key_table.h"

namespace shardscope {

const KeyTable& accelerate_keys();
/// KeyRule::stages are versions of FSDP.
const KeyTable& accelerate_fsdp_keys();
const KeyTable& accelerate_deepspeed_keys();
const KeyTable& accelerate_parallelism_keys();

/// What "auto" is to Accelerate's own keys: their default.
std::optional<std::string> keep_default(const Setting& setting);

/// A distributed_type, in lower case, and the strategy it is, or why it is none.
struct DistributedType {
  std::string_view name;
  std::string_view strategy = {};  ///< A preset, or DEEPSPEED or FSDP, or empty.
  std::string_view refusal = {};
};

const std::vector<DistributedType>& distributed_types();

/// fsdp_sharding_strategy: the number, the name in lower case, the preset.
struct ShardingStrategy {
  std::string_view number;
  std::string_view name;
  std::string_view strategy;
  bool keeps_parameters = false;  ///< From forward to backward, unlike the preset.
};

const std::vector<ShardingStrategy>& sharding_strategies();

}  // namespace shardscope
