#include "sim/explain/limits.h"

#include "sim/report/format.h"

namespace shardscope {

std::vector<Fault> explain_faults(const std::string& path, const Scenario& scenario,
                                  std::int64_t step) {
  std::vector<Fault> faults;
  const auto add = [&](const char* field, const std::string& problem, const std::string& allowed,
                       const char* example) {
    faults.push_back({.place = path,
                      .field = field,
                      .problem = problem,
                      .allowed = allowed + ", e.g. --set " + field + "=" + example,
                      .nearest = ""});
  };
  const std::string cannot = " cannot be explained number by number";
  if (scenario.world_size < kFewestExplainedRanks || scenario.world_size > kMostExplainedRanks) {
    add("cluster.world_size",
        format_count(static_cast<std::uint64_t>(scenario.world_size)) +
            (scenario.world_size == 1 ? " rank" : " ranks") + cannot,
        std::to_string(kFewestExplainedRanks) + " to " + std::to_string(kMostExplainedRanks), "2");
  }
  if (scenario.model.parameters() > kMostExplainedParameters) {
    add("model.layers", format_count(scenario.model.parameters()) + " parameters" + cannot,
        "at most " + std::to_string(kMostExplainedParameters), "[2,2,1]");
  }
  if (scenario.training.global_batch > kMostExplainedRows) {
    add("training.global_batch", format_count(scenario.training.global_batch) + " rows" + cannot,
        "at most " + std::to_string(kMostExplainedRows), "12");
  }
  if (scenario.training.micro_batches > kMostExplainedMicroSteps) {
    add("training.micro_batches",
        format_count(scenario.training.micro_batches) + " micro-steps" + cannot,
        "at most " + std::to_string(kMostExplainedMicroSteps), "2");
  }
  if (scenario.training.optimizer_on_host) {
    add("training.optimizer_offload", "CPU" + std::string(cannot), "NONE", "NONE");
  }
  if (scenario.training.storage == Storage::shape_only) {
    add("training.arithmetic", "NONE has no numbers to explain", "REAL", "REAL");
  }
  if (scenario.cluster.platform.has_value()) {
    faults.push_back(
        {.place = path,
         .field = "cluster.file",
         .problem = "SimGrid platforms cannot be explained: their routes are SimGrid's",
         .allowed = "a topology of another kind",
         .nearest = ""});
  }
  if (step > static_cast<std::int64_t>(scenario.training.steps)) {
    faults.push_back({.place = "--step " + std::to_string(step),
                      .field = "",
                      .problem = "the scenario has " + format_count(scenario.training.steps) +
                                 (scenario.training.steps == 1 ? " step" : " steps"),
                      .allowed = "1 to " + std::to_string(scenario.training.steps),
                      .nearest = ""});
  }
  return faults;
}

}  // namespace shardscope
