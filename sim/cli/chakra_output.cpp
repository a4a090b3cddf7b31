#include "sim/cli/chakra_output.h"

#include <cstdint>
#include <cstdio>
#include <optional>

#include "sim/chakra/chakra_files.h"
#include "sim/chakra/chakra_writer.h"
#include "sim/cluster/recorded_steps.h"
#include "sim/cluster/recorder.h"
#include "sim/files/atomic_file.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

void note(const std::string& text) { std::fprintf(stderr, "%s\n", printable(text).c_str()); }

void check_prefix(const std::string& prefix, int world_size, Messages& messages) {
  if (prefix == "-" || prefix.ends_with('/')) {
    messages.push_back("--chakra: " + shown(prefix) +
                       " cannot begin the names of files, PREFIX.0.et and so on");
    return;
  }
  for (const std::string& path : chakra_paths(prefix, world_size)) {
    if (const std::optional<std::string> reason = why_not_writable(path)) {
      messages.push_back("--chakra: " + *reason);
      return;
    }
  }
}

}  // namespace

void check_chakra(const std::string& prefix, const Scenario& scenario, Messages& messages) {
  check_prefix(prefix, scenario.world_size, messages);
  if (scenario.strategies.size() > 1) {
    messages.push_back("--chakra: a trace is of one strategy and this run has " +
                       std::to_string(scenario.strategies.size()) + "; --strategy " +
                       std::string(scenario.strategies.front().name) + " chooses one");
  }
  const std::int64_t most = kRecordingBudget / scenario.world_size;
  if (counted_kernels(scenario) > most) {
    messages.push_back("--chakra: a step of " + std::to_string(scenario.model.layer_count()) +
                       " layers x " + std::to_string(scenario.training.micro_batches) +
                       " micro-batches is too long to record on " +
                       std::to_string(scenario.world_size) +
                       " ranks; with fewer of these, layers x micro-batches x ranks at most " +
                       std::to_string(kRecordingBudget / kCountedKernelsPerLayer));
  }
}

int write_chakra_trace(const std::string& prefix, const Scenario& scenario, const RunResult& run) {
  if (run.outcome() != "completed") {
    note("There is no Chakra trace: " + run.strategy() + " did not complete.");
    return 0;
  }
  const ChakraResult result = write_chakra(
      prefix, run,
      {.version = SHARDSCOPE_VERSION, .scenario = scenario.name, .strategy = run.strategy()});
  if (result.error.has_value()) {
    return report({"--chakra: " + *result.error});
  }
  if (result.has_groups) {
    note("The Chakra trace has groups of ranks: " + chakra_groups_path(prefix) +
         " is ASTRA-sim's --comm-group-configuration.");
  }
  if (result.has_broadcasts) {
    note(
        "The Chakra trace has broadcasts, which ASTRA-sim does not simulate: it refuses them, or "
        "each takes the time that it took here.");
  }
  return 0;
}

}  // namespace shardscope
