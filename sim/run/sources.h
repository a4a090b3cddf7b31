// Where a scenario's weights and batches come from: its files, or its seed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/data/sources.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

struct Sources {
  std::unique_ptr<WeightSource> weights;
  std::unique_ptr<BatchSource> batches;
};

/// Opens and checks the scenario's files. With faults, which are appended, sources are null.
/// A file that cannot be read any more while the training runs throws std::runtime_error.
Sources open_sources(const Scenario& scenario, std::vector<std::string>& faults);

}  // namespace shardscope
