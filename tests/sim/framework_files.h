// Small configuration files for the tests of their readers, and questions to what these return.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sim/frameworks/framework_config.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope {

struct ConfigOutcome {
  std::optional<FrameworkConfig> config;
  std::vector<Fault> faults;

  /// The value that FIELD is overridden with last, or "-".
  std::string field(std::string_view name) const {
    std::string value = "-";
    for (const Override& replacement : config->overrides) {
      const std::size_t equals = replacement.assignment.find('=');
      if (replacement.assignment.substr(0, equals) == name) {
        value = replacement.assignment.substr(equals + 1);
      }
    }
    return value;
  }

  /// The item of the key; one of no key if there is none.
  ConfigItem item(std::string_view key) const {
    const auto found = std::find_if(config->items.begin(), config->items.end(),
                                    [&](const ConfigItem& item) { return item.key == key; });
    return found == config->items.end() ? ConfigItem{} : *found;
  }

  /// All faults, one a line, with the file's name for its path.
  std::string said() const {
    std::string text;
    for (const Fault& fault : faults) {
      const std::string line = format_fault(fault);
      text += line.substr(line.find("config.")) + "\n";
    }
    return text;
  }
};

inline testing::AssertionResult contains(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << part << "\" is not in:\n" << text;
}

inline ConfigOutcome read_deepspeed(std::string_view content, const ConfigContext& context) {
  ConfigOutcome outcome;
  outcome.config =
      read_deepspeed_config({"config.json", std::string(content)}, context, outcome.faults);
  return outcome;
}

inline ConfigOutcome read_accelerate(std::string_view content, const ConfigContext& context) {
  ConfigOutcome outcome;
  outcome.config =
      read_accelerate_config({"config.yaml", std::string(content)}, context, outcome.faults);
  return outcome;
}

/// What the scenario's reader says of the plan, applied to scenarios/starter.textproto; empty if it
/// takes it. (framework_files.cpp)
std::string scenario_faults(const FrameworkConfig& config);

}  // namespace shardscope
