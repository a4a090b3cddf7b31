#include "tests/sim/explained.h"

#include <gtest/gtest.h>

#include "sim/explain/explain.h"
#include "sim/explain/limits.h"
#include "sim/scenario/reader.h"

namespace shardscope::testing {

Explained::Explained(const std::vector<std::string>& set, std::int64_t step,
                     const CollectivePlanner& planner) {
  const std::string path = SHARDSCOPE_SOURCE_DIR "/scenarios/explain.textproto";
  std::vector<Override> overrides;
  for (const std::string& assignment : set) {
    overrides.push_back({"--set " + assignment, assignment});
  }
  std::vector<Fault> faults;
  scenario = read_scenario(path, overrides, SHARDSCOPE_SOURCE_DIR "/platforms", faults)
                 .value_or(Scenario{});
  EXPECT_TRUE(faults.empty()) << format_fault(faults.front());
  std::vector<std::string> messages;
  sources = open_sources(scenario, messages);
  EXPECT_TRUE(messages.empty()) << messages.front();
  EXPECT_TRUE(explain_faults(path, scenario, step).empty());
  explanation = explain(scenario, sources, step, planner);
}

}  // namespace shardscope::testing
