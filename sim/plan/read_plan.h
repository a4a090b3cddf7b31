// From what an engineer has - a scenario, a model's and a framework's configuration, lists of
// choices - to a plan with all its candidates simulated.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/scenario/overrides.h"
#include "sim/scenario/reader.h"

namespace shardscope {

enum class ConfigKind { deepspeed, accelerate };

/// The configuration of a framework.
struct ConfigSource {
  ConfigKind kind = ConfigKind::deepspeed;
  ConfigFile file;
};

struct PlanRequest {
  ScenarioFile file;                ///< What the others are put on top of: at least a cluster.
  std::vector<Override> overrides;  ///< In order; those of a configuration come before them.
  std::vector<Override> defaults;   ///< The same, before the configuration's.
  std::filesystem::path platforms;
  std::optional<ConfigSource> config;
  std::vector<int> ranks;  ///< Empty: those of the configuration, or of the scenario.
  std::vector<std::size_t> micro_batches;  ///< Empty: that of the configuration, or 1, 2 and 4.
  std::optional<std::string> strategies;   ///< Comma-separated names.
};

/// The candidates. Without `strategies` they are those of the scenario, else the configuration's
/// with the others of its framework, else torch DDP, DeepSpeed's stages and FSDP. Each point trains
/// with and without recomputation, unless the configuration asks for it. Nothing, and every fault,
/// if something is wrong; a combination that cannot be is Plan::left_out's.
std::optional<Plan> read_plan(const PlanRequest& request, std::vector<Fault>& faults);

}  // namespace shardscope
