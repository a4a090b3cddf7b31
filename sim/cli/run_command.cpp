#include <json/json.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "sim/chakra/chakra_files.h"
#include "sim/checkpoint/source.h"
#include "sim/cli/chakra_output.h"
#include "sim/cli/commands.h"
#include "sim/cli/open_scenario.h"
#include "sim/cli/output.h"
#include "sim/cli/output_files.h"
#include "sim/cli/step_range.h"
#include "sim/files/new_folder.h"
#include "sim/html/html_report.h"
#include "sim/html/run_data.h"
#include "sim/html/timelines.h"
#include "sim/report/format.h"
#include "sim/report/json_report.h"
#include "sim/report/text_report.h"
#include "sim/result/result.pb.h"
#include "sim/run/host_memory.h"
#include "sim/run/runner.h"
#include "sim/text/printable.h"
#include "sim/topology_files/simgrid_settings.h"
#include "sim/trace/chrome_trace.h"

namespace shardscope {
namespace {

void check_host_memory(const std::string& path, const Scenario& scenario, Messages& messages) {
  const std::uint64_t available = available_host_bytes();
  for (const Strategy& strategy : scenario.strategies) {
    const std::uint64_t needed = needed_host_bytes(scenario, strategy);
    if (needed > available) {
      messages.push_back(path + ": simulating " + std::string(strategy.name) + " takes about " +
                         format_bytes(static_cast<double>(needed)) +
                         " of this machine's memory and " +
                         format_bytes(static_cast<double>(available)) +
                         " are available; fewer ranks, a smaller model, or "
                         "training.arithmetic: NONE (shape-only)");
    }
  }
}

void check_weights_files(const std::string& folder, const Scenario& scenario, Messages& messages) {
  for (const Strategy& strategy : scenario.strategies) {
    check_writable(weights_path(folder, strategy), messages);
  }
}

// No output may take the place of a file that the run reads, or of another output.
void check_collisions(const RunArguments& arguments, const Scenario& scenario, Messages& messages) {
  OutputFiles files(messages);
  files.add_input(arguments.scenario, "the scenario");
  if (scenario.weights_file.has_value()) {
    files.add_input(*scenario.weights_file, "model.weights_file");
  }
  if (scenario.data_file.has_value()) {
    files.add_input(*scenario.data_file, "data.file");
  }
  if (arguments.json.has_value()) {
    files.add_output("--json", *arguments.json);
  }
  if (arguments.trace.has_value()) {
    files.add_output("--trace", *arguments.trace);
  }
  if (arguments.html.has_value()) {
    files.add_output("--html", *arguments.html);
  }
  if (arguments.html == "-" && arguments.json == "-") {
    messages.emplace_back("--html: standard output is also an output of --json");
  }
  if (arguments.save_weights.has_value()) {
    for (const Strategy& strategy : scenario.strategies) {
      files.add_output("--save-weights", weights_path(*arguments.save_weights, strategy));
    }
  }
  if (arguments.chakra.has_value()) {
    for (const std::string& path : chakra_paths(*arguments.chakra, scenario.world_size)) {
      files.check("--chakra", path);  // They differ from each other.
    }
  }
}

// Before anything is made or run: can the outputs be written?
void check_outputs(const RunArguments& arguments, const Scenario& scenario, Messages& messages) {
  check_collisions(arguments, scenario, messages);
  if (arguments.json.has_value() && *arguments.json != "-") {
    check_writable(*arguments.json, messages);
  }
  if (arguments.trace == "-") {
    messages.emplace_back("--trace: a trace is written to a file, not to standard output");
  } else if (arguments.trace.has_value()) {
    check_writable(*arguments.trace, messages);
  }
  if (arguments.html.has_value() && *arguments.html != "-") {
    check_writable(*arguments.html, messages);
  }
  if (arguments.chakra.has_value()) {
    check_chakra(*arguments.chakra, scenario, messages);
  }
  if (scenario.checkpoint.has_value() && scenario.training.storage == Storage::real) {
    if (const auto reason = why_no_folder(scenario.checkpoint->directory)) {
      messages.push_back("training.checkpoint.directory: " + *reason);
    }
  }
  if (!arguments.save_weights.has_value()) {
    return;
  }
  if (scenario.training.storage == Storage::shape_only) {
    messages.emplace_back("--save-weights: training.arithmetic is NONE: there are no weights");
  } else if (const auto reason = why_no_folder(*arguments.save_weights)) {
    messages.push_back("--save-weights " + *reason);
  } else if (std::filesystem::exists(*arguments.save_weights)) {
    check_weights_files(*arguments.save_weights, scenario, messages);
  }
}

// The folder for the weights, once everything else is known to be right. It vanishes again if they
// could not be written to it.
void make_weights_folder(const std::string& path, const Scenario& scenario, Messages& messages) {
  NewFolder folder(path);
  if (folder.error()) {
    messages.push_back("--save-weights " + *folder.error());
    return;
  }
  check_weights_files(path, scenario, messages);
  if (messages.empty()) {
    folder.keep();
  }
}

// What each strategy goes on from; empty without --resume. A folder of several strategies has each
// one's own; any other checkpoint is cut anew for all of them.
using Resumed = std::vector<std::unique_ptr<CheckpointSource>>;

Resumed open_resumed(const RunArguments& arguments, const Scenario& scenario, Messages& messages) {
  Resumed resumed;
  if (!arguments.resume.has_value()) {
    return resumed;
  }
  std::vector<Fault> faults;
  // Strategies that go on from the same checkpoint have its faults in common.
  const auto add = [&](const std::string& message) {
    if (std::find(messages.begin(), messages.end(), message) == messages.end()) {
      messages.push_back(message);
    }
  };
  for (const Strategy& strategy : scenario.strategies) {
    const std::string name(strategy.name);
    std::error_code ignored;
    const bool has_own = std::filesystem::is_directory(*arguments.resume + "/" + name, ignored);
    resumed.push_back(
        open_checkpoint(*arguments.resume, has_own ? std::optional(name) : std::nullopt, faults));
    if (resumed.back() == nullptr) {
      continue;
    }
    check_model(*resumed.back(), scenario.model, faults);
    const std::int64_t done = resumed.back()->progress().steps;
    if (done >= static_cast<std::int64_t>(scenario.training.steps)) {
      add("--resume: " + shown(resumed.back()->folder()) + " is of step " + std::to_string(done) +
          ", and training.steps is " + std::to_string(scenario.training.steps) + "; more steps");
    }
  }
  for (const Fault& fault : faults) {
    add("--resume: " + format_fault(fault));
  }
  return resumed;
}

// The first step of a run, of several strategies the earliest.
std::int64_t first_step(const Resumed& resumed) {
  std::int64_t done = resumed.empty() ? 0 : std::numeric_limits<std::int64_t>::max();
  for (const auto& checkpoint : resumed) {
    done = std::min(done, checkpoint->progress().steps);
  }
  return done + 1;
}

// The steps of the trace, and the last one if something else looks at it.
RecordedSteps recorded_steps(const RunArguments& arguments, const Scenario& scenario,
                             const Resumed& resumed, Messages& messages) {
  RecordedSteps recorded{.final_step = arguments.critical_path || arguments.html.has_value() ||
                                       arguments.chakra.has_value()};
  if (arguments.trace_steps.has_value() && !arguments.trace.has_value()) {
    messages.emplace_back("--trace-steps: there is no --trace");
  } else if (arguments.trace.has_value()) {
    const auto steps = static_cast<std::int64_t>(scenario.training.steps);
    const std::int64_t first = first_step(resumed);
    const auto range = parse_steps(
        arguments.trace_steps.value_or(std::to_string(first) + ".." + std::to_string(steps)));
    if (range.has_value() && first <= range->first && range->second <= steps) {
      recorded.first = range->first;
      recorded.last = range->second;
    } else {
      messages.push_back("--trace-steps: " + shown(*arguments.trace_steps) +
                         ": steps are A..B or A, with " + std::to_string(first) +
                         " <= A <= B <= " + std::to_string(steps));
    }
  }
  return recorded;
}

// A reader takes the newest checkpoint of a folder: what another run saved there of a later step
// would be taken for this run's.
void check_earlier_checkpoints(const Scenario& scenario, const Resumed& resumed,
                               Messages& messages) {
  if (!scenario.checkpoint.has_value() || scenario.training.storage == Storage::shape_only) {
    return;
  }
  const std::string& directory = scenario.checkpoint->directory;
  for (std::size_t i = 0; i < scenario.strategies.size(); ++i) {
    const std::string name(scenario.strategies[i].name);
    const std::int64_t begin = resumed.empty() ? 0 : resumed[i]->progress().steps;
    const std::optional<std::int64_t> newest = newest_steps(directory, name);
    if (newest.has_value() && *newest > begin) {
      messages.push_back("training.checkpoint.directory: " + shown(directory) +
                         " holds a checkpoint of " + name + " of step " + std::to_string(*newest) +
                         ", later than step " + std::to_string(begin) +
                         ", at which this run begins; --resume goes on from it, another directory "
                         "begins anew");
    }
  }
}

std::vector<RunResult> run_all(const RunArguments& arguments, const OpenedScenario& opened,
                               const Resumed& resumed, const RecordedSteps& recorded) {
  RunOptions options{.threads = arguments.threads,
                     .recorded = recorded,
                     .save_weights = arguments.save_weights,
                     .program = std::string("shardscope ") + SHARDSCOPE_VERSION,
                     .show_progress = isatty(STDERR_FILENO) != 0};
  std::vector<RunResult> runs;
  for (std::size_t i = 0; i < opened.scenario.strategies.size(); ++i) {
    options.resumed = resumed.empty() ? nullptr : resumed[i].get();
    runs.push_back(
        run_strategy(opened.scenario, opened.scenario.strategies[i], opened.sources, options));
    if (options.resumed != nullptr) {
      runs.back().set_resumed_from(resumed[i]->folder());
    }
  }
  return runs;
}

// Writes the reports. The exit code as far as they decide it.
int write_reports(const RunArguments& arguments, const Scenario& scenario, bool has_sweep,
                  const std::vector<RunResult>& runs, const RecordedSteps& recorded) {
  const ReportContext context{.version = SHARDSCOPE_VERSION,
                              .simgrid_settings = simgrid_settings(),
                              .critical_path = arguments.critical_path};
  if (arguments.trace.has_value()) {
    const ChromeTrace trace =
        chrome_trace(scenario.name, SHARDSCOPE_VERSION, runs, recorded.first, recorded.last);
    if (!trace.cut.empty()) {
      std::fprintf(stderr, "Left out of the trace to bound its size: %s.\n", trace.cut.c_str());
    }
    if (!trace.flows.empty()) {
      std::fprintf(stderr,
                   "The trace has no messages of collectives that were simulated as flows: %s.\n",
                   trace.flows.c_str());
    }
    if (const int code = write_or_print(*arguments.trace, trace.text); code != 0) {
      return code;
    }
  }
  if (arguments.chakra.has_value()) {
    if (const int code = write_chakra_trace(*arguments.chakra, scenario, runs.front()); code != 0) {
      return code;
    }
  }
  if (arguments.html.has_value()) {
    Json::Value data = run_data(scenario, runs, context);
    data["timelines"] = timelines_value(runs);
    if (const int code = write_or_print(*arguments.html, html_report(data)); code != 0) {
      return code;
    }
  }
  if (arguments.json.has_value()) {
    const int code = write_or_print(*arguments.json, json_report(scenario, runs, context));
    if (code != 0) {
      return code;
    }
  }
  if (arguments.html == "-" || arguments.json == "-") {
    return 0;
  }
  return print(
      text_report(
          scenario, runs, context,
          {.colour = is_colour_terminal(), .quiet = arguments.quiet, .width = terminal_width()}) +
      (has_sweep ? "\nThe scenario's sweep was left out; shardscope sweep runs it.\n" : ""));
}

}  // namespace

int run_command(const RunArguments& arguments) {
  Messages messages;
  const std::optional<PointSource> source =
      read_point_source(arguments.scenario, arguments.set, arguments.strategy, messages);
  std::optional<OpenedScenario> opened;
  if (source.has_value()) {
    opened = open_scenario(*source, messages);
  }
  RecordedSteps recorded;
  Resumed resumed;
  if (opened.has_value()) {
    check_host_memory(arguments.scenario, opened->scenario, messages);
    check_outputs(arguments, opened->scenario, messages);
    resumed = open_resumed(arguments, opened->scenario, messages);
    if (std::find(resumed.begin(), resumed.end(), nullptr) == resumed.end()) {
      recorded = recorded_steps(arguments, opened->scenario, resumed, messages);
      check_earlier_checkpoints(opened->scenario, resumed, messages);
    }
  }
  if (messages.empty() && arguments.save_weights.has_value()) {
    make_weights_folder(*arguments.save_weights, opened->scenario, messages);
  }
  if (!messages.empty()) {
    return report(messages);
  }
  const std::vector<RunResult> runs = run_all(arguments, *opened, resumed, recorded);
  const bool has_sweep = !axes_of_file(*source).empty();
  const int code = write_reports(arguments, opened->scenario, has_sweep, runs, recorded);
  const bool died = std::any_of(runs.begin(), runs.end(),
                                [](const RunResult& run) { return run.outcome() == "failed"; });
  const bool unsaved = std::any_of(runs.begin(), runs.end(),
                                   [](const RunResult& run) { return run.checkpoint_failed(); });
  return code != 0 ? code : (unsaved ? kFaultsExit : (died ? kDiedExit : 0));
}

}  // namespace shardscope
