#include "sim/cli/open_scenario.h"

#include <cstddef>
#include <utility>

#include "sim/scenario/data_dir.h"
#include "sim/scenario/reader.h"
#include "sim/text/fault.h"

namespace shardscope {
namespace {

std::vector<Override> overrides(const std::vector<std::string>& set,
                                const std::optional<std::string>& strategy) {
  std::vector<Override> result;
  result.reserve(set.size() + 1);
  for (const std::string& assignment : set) {
    result.push_back({"--set " + assignment, assignment});
  }
  if (strategy.has_value()) {
    result.push_back({"--strategy " + *strategy, "strategies=" + *strategy});
  }
  return result;
}

std::optional<Scenario> parse(const PointSource& source, BatchUse batch, Messages& messages) {
  std::vector<Fault> faults;
  std::optional<Scenario> scenario =
      parse_scenario(source.file, source.overrides, source.platforms, faults, batch);
  for (const Fault& fault : faults) {
    messages.push_back(format_fault(fault));
  }
  return scenario;
}

}  // namespace

std::optional<PointSource> read_point_source(const std::string& path,
                                             const std::vector<std::string>& set,
                                             const std::optional<std::string>& strategy,
                                             Messages& messages) {
  const auto folder = data_folder(messages);
  if (!folder.has_value()) {
    return std::nullopt;
  }
  std::vector<Fault> faults;
  std::optional<ScenarioFile> file = read_scenario_file(path, faults);
  for (const Fault& fault : faults) {
    messages.push_back(format_fault(fault));
  }
  if (!file.has_value()) {
    return std::nullopt;
  }
  return PointSource{std::move(*file), overrides(set, strategy), *folder / "platforms"};
}

std::optional<OpenedScenario> open_scenario(const PointSource& source, Messages& messages) {
  std::optional<Scenario> scenario = parse(source, BatchUse::trained, messages);
  if (!scenario.has_value()) {
    return std::nullopt;
  }
  const std::size_t before = messages.size();
  Sources sources = open_sources(*scenario, messages);
  if (messages.size() != before) {
    return std::nullopt;
  }
  return OpenedScenario{std::move(*scenario), std::move(sources)};
}

std::optional<Scenario> open_cluster(const PointSource& source, Messages& messages) {
  return parse(source, BatchUse::unused, messages);
}

std::optional<std::filesystem::path> data_folder(Messages& messages) {
  auto folder = find_data_dir();
  if (!folder.has_value()) {
    messages.emplace_back("the program's files are missing: no ../share/shardscope beside it");
  }
  return folder;
}

}  // namespace shardscope
