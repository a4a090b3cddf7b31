// What a plan compares where nobody says among what.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/frameworks/framework_config.h"

namespace shardscope {

/// Where neither a configuration nor the cluster tells how many.
const std::vector<int>& usual_ranks();

const std::vector<std::size_t>& usual_micro_batches();

/// Whether FSDP's hybrid may have a copy in each node, as torch's own default.
bool has_copies_by_node(std::size_t ranks, std::size_t devices_per_node);

/// torch's DDP, DeepSpeed's stages and FSDP, its hybrid where it has copies by node; with the
/// optimizer on the host only those that shard it.
std::vector<std::string> usual_strategies(std::size_t ranks, std::size_t devices_per_node,
                                          bool optimizer_on_host);

/// All strategies of the configuration's framework.
std::vector<std::string> strategies_of_framework(const FrameworkConfig& config);

/// Those of them that are compared with the configuration's own.
std::vector<std::string> strategies_beside(const FrameworkConfig& config, bool optimizer_on_host);

/// 2 of DEEPSPEED_STAGE2; nothing of other frameworks' strategies.
std::optional<int> deepspeed_stage(const std::string& strategy);

}  // namespace shardscope
