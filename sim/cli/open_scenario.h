// A scenario as `run` and `check` are given it: a file and the options that override its fields.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli/output.h"
#include "sim/run/sources.h"
#include "sim/scenario/scenario.h"
#include "sim/sweep/plan.h"

namespace shardscope {

/// A scenario and the weights and batches it names, all checked.
struct OpenedScenario {
  Scenario scenario;
  Sources sources;
};

/// The file's text and what overrides it; nothing, and a fault, if there is no such file. `set` and
/// `strategy` are the values of these options.
std::optional<PointSource> read_point_source(const std::string& path,
                                             const std::vector<std::string>& set,
                                             const std::optional<std::string>& strategy,
                                             Messages& messages);

/// Nothing, with every fault appended, if something is wrong.
std::optional<OpenedScenario> open_scenario(const PointSource& source, Messages& messages);

/// The same of what asks for its cluster alone: its batch may be any, its files are not looked at.
std::optional<Scenario> open_cluster(const PointSource& source, Messages& messages);

/// The folder of the files that the program reads at run time, or nothing and a fault.
std::optional<std::filesystem::path> data_folder(Messages& messages);

}  // namespace shardscope
