#include <google/protobuf/text_format.h>
#include <json/json.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scenarios/scenario.pb.h"
#include "sim/cli/commands.h"
#include "sim/cli/open_scenario.h"
#include "sim/cli/output.h"
#include "sim/cli/output_files.h"
#include "sim/html/html_report.h"
#include "sim/html/plan_data.h"
#include "sim/plan/plan_json.h"
#include "sim/plan/plan_text.h"
#include "sim/plan/read_plan.h"
#include "sim/plan/run_plan.h"
#include "sim/run/interruption.h"
#include "sim/scenario/message_text.h"
#include "sim/scenario/node_catalogue.h"
#include "sim/sweep/progress.h"
#include "sim/text/comma_list.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"
#include "sim/topology_files/topology_file.h"

namespace shardscope {
namespace {

constexpr std::size_t kMostRanks = 16'384;
constexpr std::size_t kMostMicroBatch = 1'000'000;
constexpr std::size_t kMostChoices = 100;

void refuse(const std::string& place, const std::string& problem, const std::string& allowed,
            Messages& messages, const std::string& nearest = {}) {
  messages.push_back(format_fault({place, {}, problem, allowed, nearest}));
}

// "8,64,512", ascending.
std::vector<std::size_t> parse_list(const std::string& option,
                                    const std::optional<std::string>& text, std::size_t most,
                                    Messages& messages) {
  std::vector<std::size_t> values;
  if (!text.has_value()) {
    return values;
  }
  for (const std::string& word : comma_list(*text)) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 1 || value > most) {
      refuse(option + " " + shown(*text),
             (word.empty() ? "an empty number" : shown(word)) + " is not allowed",
             "whole numbers from 1 to " + std::to_string(most) + ", separated by commas", messages);
    }
    values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  if (const auto twice = find_twice(values)) {
    refuse(option + " " + shown(*text), std::to_string(*twice) + " is there twice",
           "each number once", messages);
  }
  if (values.size() > kMostChoices) {
    refuse(option, "has too many values", "at most " + std::to_string(kMostChoices), messages);
  }
  return values;
}

std::string absolute(const std::string& path) {
  std::error_code error;
  return std::filesystem::absolute(path, error).lexically_normal().string();
}

// A text-format string.
std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    all += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return all + "\"";
}

// A scenario's cluster. One with faults stays as it is, for them to be reported.
ScenarioFile cluster_alone(ScenarioFile file) {
  schema::Scenario message;
  const MessageText text(file.path, file.contents, {}, message);
  if (!text.has_faults() && message.has_cluster()) {
    schema::Scenario kept;
    *kept.mutable_cluster() = message.cluster();
    google::protobuf::TextFormat::PrintToString(kept, &file.contents);
  }
  return file;
}

// What a plan is made on: a scenario, and what is set of it.
struct Base {
  ScenarioFile file;
  std::vector<Override> overrides;
};

Base base_of(const std::string& argument, const std::string& assignment) {
  return {{argument, {}}, {{argument, assignment}}};
}

// What --cluster names: a node of the catalogue, a topology file, or a scenario.
std::optional<Base> cluster_base(const std::string& cluster, const std::filesystem::path& platforms,
                                 Messages& messages) {
  const std::string argument = "--cluster " + shown(cluster);
  std::error_code error;
  const std::vector<std::string> nodes = node_preset_names(platforms);
  if (!std::filesystem::exists(cluster, error)) {
    if (std::find(nodes.begin(), nodes.end(), cluster) != nodes.end()) {
      return base_of(argument,
                     "cluster={node {preset: " + quoted(cluster) + "} link {latency: \"1us\"}}");
    }
    refuse(argument, "is no file and no node of the catalogue",
           "a scenario with a cluster, a topology file, or " + one_of(nodes), messages,
           nearest_name(cluster, nodes));
    return std::nullopt;
  }
  std::vector<Fault> faults;
  std::optional<ScenarioFile> file = read_scenario_file(cluster, faults);
  for (const Fault& fault : faults) {
    messages.push_back(format_fault(fault));
  }
  std::vector<Fault> of_topology;  // Reported when the cluster is read.
  const bool is_xml =
      file.has_value() && file->contents.find_first_not_of(" \t\r\n") == file->contents.find('<');
  if (file.has_value() && (is_xml || topology_file_kind(cluster, of_topology).has_value())) {
    return base_of(argument, "cluster.file=" + quoted(absolute(cluster)));
  }
  return file.has_value() ? std::optional(Base{cluster_alone(std::move(*file)), {}}) : std::nullopt;
}

std::optional<Base> find_base(const PlanArguments& arguments,
                              const std::filesystem::path& platforms, Messages& messages) {
  if (arguments.scenario.has_value() == arguments.cluster.has_value()) {
    messages.emplace_back(arguments.scenario.has_value()
                              ? "--cluster: the scenario has a cluster; one of the two"
                              : "SCENARIO: is missing; a scenario, or --cluster with a file or a "
                                "node of the catalogue (shardscope platforms)");
    return std::nullopt;
  }
  if (arguments.cluster.has_value()) {
    return cluster_base(*arguments.cluster, platforms, messages);
  }
  std::vector<Fault> faults;
  std::optional<ScenarioFile> file = read_scenario_file(*arguments.scenario, faults);
  for (const Fault& fault : faults) {
    messages.push_back(format_fault(fault));
  }
  return file.has_value() ? std::optional(Base{std::move(*file), {}}) : std::nullopt;
}

// The model's file is read for each candidate.
void check_model_file(const PlanArguments& arguments, Messages& messages) {
  std::error_code error;
  if (arguments.hf_config.has_value() && std::filesystem::exists(*arguments.hf_config, error) &&
      !std::filesystem::is_regular_file(*arguments.hf_config, error)) {
    refuse("--hf-config " + shown(*arguments.hf_config), "is no regular file",
           "a file, which can be read more than once", messages);
  }
}

std::vector<Override> overrides_of(const PlanArguments& arguments) {
  std::vector<Override> overrides;
  if (arguments.hf_config.has_value()) {
    overrides.push_back({"--hf-config " + *arguments.hf_config,
                         "model.hf_config=" + quoted(absolute(*arguments.hf_config))});
  }
  if (arguments.sequence.has_value()) {
    overrides.push_back(
        {"--sequence " + *arguments.sequence, "model.sequence_length=" + *arguments.sequence});
  }
  for (const std::string& assignment : arguments.set) {
    overrides.push_back({"--set " + assignment, assignment});
  }
  return overrides;
}

// Before anything is read or run: can the outputs be written, and do they replace anything?
void check_outputs(const PlanArguments& arguments, Messages& messages) {
  OutputFiles files(messages);
  const auto add_input = [&](const std::optional<std::string>& path, const std::string& what) {
    if (path.has_value()) {
      files.add_input(*path, what);
    }
  };
  add_input(arguments.scenario, "the scenario");
  add_input(arguments.cluster, "the cluster");
  add_input(arguments.hf_config, "the model");
  add_input(arguments.deepspeed, "the configuration of DeepSpeed");
  add_input(arguments.accelerate, "the configuration of Accelerate");
  const auto add_output = [&](const std::string& option, const std::optional<std::string>& path) {
    if (path.has_value() && *path != "-") {
      files.add_output(option, *path);
      check_writable(*path, messages);
    }
  };
  add_output("--json", arguments.json);
  add_output("--html", arguments.html);
  if (arguments.html == "-" && arguments.json == "-") {
    messages.emplace_back("--html: standard output is also an output of --json");
  }
}

// The scenario's name; without a scenario what was given instead: "llama/config.json on dgx-a100".
std::string title(const PlanArguments& arguments, const Plan& plan) {
  if (arguments.scenario.has_value()) {
    return plan.points.front().scenario.name;
  }
  const std::filesystem::path cluster(*arguments.cluster);
  const std::string where = " on " + cluster.filename().string();
  if (!arguments.hf_config.has_value()) {
    return "Model of the cluster's scenario" + where;
  }
  const std::filesystem::path model(absolute(*arguments.hf_config));
  return (model.parent_path().filename() / model.filename()).string() + where;
}

// Writes the reports. The exit code as far as they decide it.
int write_reports(const PlanArguments& arguments, const Plan& plan) {
  if (arguments.html.has_value()) {
    const std::string page =
        html_report(plan_data(plan, title(arguments, plan), SHARDSCOPE_VERSION));
    if (const int code = write_or_print(*arguments.html, page); code != 0) {
      return code;
    }
  }
  if (arguments.json.has_value()) {
    const std::string text = plan_json(plan, SHARDSCOPE_VERSION);
    if (const int code = write_or_print(*arguments.json, text); code != 0) {
      return code;
    }
  }
  if (arguments.html == "-" || arguments.json == "-") {
    return 0;
  }
  return print(plan_text(plan, is_colour_terminal(), terminal_width()));
}

std::optional<ConfigSource> config_source(const PlanArguments& arguments, Messages& messages) {
  const bool is_deepspeed = arguments.deepspeed.has_value();
  const std::optional<std::string>& path =
      is_deepspeed ? arguments.deepspeed : arguments.accelerate;
  if (!path.has_value()) {
    return std::nullopt;
  }
  std::vector<Fault> faults;
  std::optional<ConfigFile> file = read_config_file(*path, faults);
  for (const Fault& fault : faults) {
    messages.push_back(format_fault(fault));
  }
  if (!file.has_value()) {
    return std::nullopt;
  }
  return ConfigSource{is_deepspeed ? ConfigKind::deepspeed : ConfigKind::accelerate,
                      std::move(*file)};
}

std::optional<PlanRequest> make_request(const PlanArguments& arguments, Messages& messages) {
  const auto folder = data_folder(messages);
  if (!folder.has_value()) {
    return std::nullopt;
  }
  check_outputs(arguments, messages);
  PlanRequest request;
  request.platforms = *folder / "platforms";
  std::optional<Base> base = find_base(arguments, request.platforms, messages);
  check_model_file(arguments, messages);
  for (const std::size_t ranks : parse_list("--ranks", arguments.ranks, kMostRanks, messages)) {
    request.ranks.push_back(static_cast<int>(ranks));
  }
  request.micro_batches =
      parse_list("--micro-batch", arguments.micro_batch, kMostMicroBatch, messages);
  const auto refuse_set = [&](const char* option, const std::optional<std::string>& given,
                              const std::string& field) {
    for (const std::string& set : arguments.set) {
      if (given.has_value() && set.starts_with(field + "=")) {
        refuse(option, "--set " + shown(set) + " is given as well", "one of the two", messages);
      }
    }
  };
  refuse_set("--hf-config", arguments.hf_config, "model.hf_config");
  refuse_set("--sequence", arguments.sequence, "model.sequence_length");
  const bool sets_model =
      std::any_of(arguments.set.begin(), arguments.set.end(),
                  [](const std::string& set) { return set.starts_with("model"); });
  if (arguments.cluster.has_value() && !arguments.hf_config.has_value() && !sets_model) {
    messages.emplace_back("--hf-config: is missing; a model's config.json, or its fields by --set");
  }
  if (arguments.deepspeed.has_value() && arguments.accelerate.has_value()) {
    messages.emplace_back("--accelerate: --deepspeed is given as well; one of the two");
  }
  request.config = config_source(arguments, messages);
  if (!base.has_value() || !messages.empty()) {
    return std::nullopt;
  }
  request.file = std::move(base->file);
  request.defaults = std::move(base->overrides);
  request.overrides = overrides_of(arguments);
  request.strategies = arguments.strategy;
  request.defaults.push_back({"plan", "cluster.collective.fidelity=FLOW"});
  return request;
}

}  // namespace

int plan_command(const PlanArguments& arguments) {
  Messages messages;
  const std::optional<PlanRequest> request = make_request(arguments, messages);
  if (!request.has_value()) {
    return report(messages);
  }
  std::vector<Fault> faults;
  std::optional<Plan> plan = read_plan(*request, faults);
  for (const Fault& fault : faults) {
    messages.push_back(format_fault(fault));
  }
  if (!plan.has_value()) {
    return report(messages);
  }
  std::size_t rows = 0;
  for (const PlanPoint& point : plan->points) {
    rows += point.scenario.strategies.size();
  }
  {
    const Interruption interruption;
    std::optional<SweepProgress> progress;
    if (isatty(STDERR_FILENO) != 0) {
      progress.emplace(rows, 0, true);
    }
    run_plan(*plan, {.jobs = std::max(1U, std::thread::hardware_concurrency()),
                     .progress = [&](std::size_t done, std::size_t /*all*/) {
                       if (progress.has_value()) {
                         progress->show(done);
                       }
                     }});
    if (progress.has_value()) {
      progress->clear();
    }
    if (Interruption::signal() != 0) {
      report({"interrupted"});
      return 128 + Interruption::signal();
    }
  }
  const int code = write_reports(arguments, *plan);
  const bool died = std::any_of(plan->rows.begin(), plan->rows.end(), [](const PlanRow& row) {
    return row.figures.outcome() == "failed";
  });
  return code != 0 ? code : died ? kDiedExit : 0;
}

}  // namespace shardscope
