// Reads scenario files: Protobuf text format in the schema scenarios/scenario.proto.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/message_text.h"
#include "sim/scenario/scenario.h"
#include "sim/text/fault.h"

namespace shardscope {

/// The scenario of the file at `path` with the overrides applied, checked and resolved; device
/// presets come from the folder `platforms`. Or nothing, and at least one fault: all unknown fields
/// and wrong values of the file and the overrides together, in the order of their places. An
/// override can mend a fault of the file. Does not throw for what a user wrote.
///
/// Relative paths in the file are relative to its folder, in overrides to the current directory.
/// Weights and data files must be readable; what is in them is not looked at here.
std::optional<Scenario> read_scenario(const std::string& path,
                                      const std::vector<Override>& overrides,
                                      const std::filesystem::path& platforms,
                                      std::vector<Fault>& faults);

/// A scenario file's text, read once for what is to be parsed more than once.
struct ScenarioFile {
  std::string path;
  std::string contents;
};

/// Nothing, and a fault, if there is no such file or no text in it.
std::optional<ScenarioFile> read_scenario_file(const std::string& path, std::vector<Fault>& faults);

/// Whether the scenario's own batch is trained, and must be one that its ranks can share and that
/// is not too large, or is beside the point.
enum class BatchUse { trained, unused };

/// read_scenario() of a file that has been read.
std::optional<Scenario> parse_scenario(const ScenarioFile& file,
                                       const std::vector<Override>& overrides,
                                       const std::filesystem::path& platforms,
                                       std::vector<Fault>& faults,
                                       BatchUse batch = BatchUse::trained);

}  // namespace shardscope
