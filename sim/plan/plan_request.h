// What an engineer has, and asks for.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/frameworks/framework_config.h"
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

}  // namespace shardscope
