// From a scenario and a command line to a sweep whose points can be run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/overrides.h"
#include "sim/scenario/reader.h"
#include "sim/scenario/scenario.h"
#include "sim/sweep/sweep.h"
#include "sim/text/fault.h"

namespace shardscope {

/// What points are made of: they are this, each with its axes' values on top.
struct PointSource {
  ScenarioFile file;
  std::vector<Override> overrides;
  std::filesystem::path platforms;
};

/// The axes of the file's sweep. An override of an axis's field takes the axis's place as well.
std::vector<AxisText> axes_of_file(const PointSource& source);

/// The sweep of these axes and those of `axis_arguments`, which are added or replace the file's of
/// the same field. Nothing, and the faults, if an axis is wrong, if a value is wrong at
/// whatever point it occurs, or if no point is without faults. A point that is wrong by a
/// combination of values that others can have is for its row to say.
std::optional<Sweep> plan_sweep(const PointSource& source,
                                const std::vector<std::string>& axis_arguments,
                                const std::string& version, std::vector<Fault>& faults);

/// The scenario at a point; nothing, and its faults, if it has any.
std::optional<Scenario> scenario_at(const PointSource& source, const Sweep& sweep,
                                    std::size_t point, std::vector<Fault>& faults);

}  // namespace shardscope
