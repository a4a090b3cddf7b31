#include "sim/plan/candidates.h"

#include <algorithm>
#include <string_view>

#include "core/training/strategy.h"

namespace shardscope {
namespace {

constexpr const char* kHybrid = "FSDP_HYBRID_SHARD";

const std::vector<std::vector<std::string>> kFamilies = {
    {"DEEPSPEED_STAGE0", "DEEPSPEED_STAGE1", "DEEPSPEED_STAGE2", "DEEPSPEED_STAGE3"},
    {"FSDP_NO_SHARD", "FSDP_SHARD_GRAD_OP", "FSDP_FULL_SHARD", kHybrid},
    {"TORCH_DDP", "ZERO_REDUNDANCY_OPTIMIZER"}};

}  // namespace

const std::vector<int>& usual_ranks() {
  static const std::vector<int> ranks = {8, 64};
  return ranks;
}

const std::vector<std::size_t>& usual_micro_batches() {
  static const std::vector<std::size_t> micro_batches = {1, 2, 4};
  return micro_batches;
}

bool has_copies_by_node(std::size_t ranks, std::size_t devices_per_node) {
  return devices_per_node > 1 && ranks > devices_per_node && ranks % devices_per_node == 0;
}

std::vector<std::string> usual_strategies(std::size_t ranks, std::size_t devices_per_node,
                                          bool optimizer_on_host) {
  std::vector<std::string> names = {"TORCH_DDP",        "DEEPSPEED_STAGE1",   "DEEPSPEED_STAGE2",
                                    "DEEPSPEED_STAGE3", "FSDP_SHARD_GRAD_OP", "FSDP_FULL_SHARD"};
  if (has_copies_by_node(ranks, devices_per_node)) {
    names.emplace_back(kHybrid);
  }
  if (optimizer_on_host) {
    std::erase_if(names, [](const auto& name) { return !find_strategy(name)->has_shards(); });
  }
  return names;
}

std::vector<std::string> strategies_of_framework(const FrameworkConfig& config) {
  for (const std::vector<std::string>& family : kFamilies) {
    if (std::find(family.begin(), family.end(), config.strategy) != family.end()) {
      return family;
    }
  }
  return {config.strategy};
}

std::vector<std::string> strategies_beside(const FrameworkConfig& config, bool optimizer_on_host) {
  const bool on_host = optimizer_on_host || config.optimizer_offload != Offload::none;
  std::vector<std::string> names = strategies_of_framework(config);
  std::erase_if(names, [&](const std::string& name) {
    const bool is_asked = name != kHybrid || name == config.strategy;
    return !is_asked || (on_host && !find_strategy(name)->has_shards());
  });
  return names.empty() ? std::vector{config.strategy} : names;
}

std::optional<int> deepspeed_stage(const std::string& strategy) {
  constexpr std::string_view kPrefix = "DEEPSPEED_STAGE";
  const bool is_one = strategy.starts_with(kPrefix) && strategy.size() == kPrefix.size() + 1;
  return is_one ? std::optional(strategy.back() - '0') : std::nullopt;
}

}  // namespace shardscope
