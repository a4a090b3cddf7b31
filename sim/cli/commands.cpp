#include "sim/cli/commands.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/training/formulas.h"
#include "core/training/strategy.h"
#include "sim/cluster/network.h"
#include "sim/files/atomic_file.h"
#include "sim/report/format.h"
#include "sim/report/json_report.h"
#include "sim/report/memory_table.h"
#include "sim/report/text_report.h"
#include "sim/result/result.pb.h"
#include "sim/run/host_memory.h"
#include "sim/run/runner.h"
#include "sim/run/sources.h"
#include "sim/scenario/data_dir.h"
#include "sim/scenario/fault.h"
#include "sim/scenario/reader.h"

namespace shardscope {
namespace {

constexpr int kFaultsExit = 2;
constexpr int kDiedExit = 1;

using Messages = std::vector<std::string>;

int report(const Messages& messages) {
  for (const std::string& message : messages) {
    std::fprintf(stderr, "%s\n", message.c_str());
  }
  return messages.empty() ? 0 : kFaultsExit;
}

// Writes to standard output; a full disk behind it is a fault.
int print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    return report({std::string("standard output: ") + std::strerror(errno)});
  }
  return 0;
}

int write_or_print(const std::string& path, const std::string& text) {
  if (path == "-") {
    return print(text);
  }
  const std::optional<std::string> error = write_file(path, text);
  return error.has_value() ? report({*error}) : 0;
}

std::optional<std::filesystem::path> data_dir(Messages& messages) {
  auto folder = find_data_dir();
  if (!folder.has_value()) {
    messages.emplace_back("the program's files are missing: no ../share/shardscope beside it");
  }
  return folder;
}

std::optional<std::string> data_file(const char* name, Messages& messages) {
  const auto folder = data_dir(messages);
  if (!folder.has_value()) {
    return std::nullopt;
  }
  std::ifstream file(*folder / name);
  std::ostringstream text;
  if (!(text << file.rdbuf())) {
    messages.push_back((*folder / name).string() + ": cannot be read");
    return std::nullopt;
  }
  return text.str();
}

std::vector<Override> overrides(const std::vector<std::string>& set,
                                const std::optional<std::string>& strategy) {
  std::vector<Override> result;
  for (const std::string& assignment : set) {
    result.push_back({"--set " + assignment, assignment});
  }
  if (strategy.has_value()) {
    result.push_back({"--strategy " + *strategy, "strategies=" + *strategy});
  }
  return result;
}

// A scenario and the weights and batches it names, all checked.
struct Opened {
  Scenario scenario;
  Sources sources;
};

std::optional<Opened> open_scenario(const std::string& path, const std::vector<Override>& overrides,
                                    Messages& messages) {
  const auto folder = data_dir(messages);
  if (!folder.has_value()) {
    return std::nullopt;
  }
  std::vector<Fault> faults;
  std::optional<Scenario> scenario = read_scenario(path, overrides, *folder / "platforms", faults);
  for (const Fault& fault : faults) {
    messages.push_back(format_fault(fault));
  }
  if (!scenario.has_value()) {
    return std::nullopt;
  }
  const std::size_t before = messages.size();
  Sources sources = open_sources(*scenario, messages);
  if (messages.size() != before) {
    return std::nullopt;
  }
  return Opened{std::move(*scenario), std::move(sources)};
}

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

// Before anything is run: can the outputs be written?
void check_outputs(const RunArguments& arguments, const Scenario& scenario, Messages& messages) {
  const auto check = [&](const std::string& path) {
    if (const std::optional<std::string> reason = why_not_writable(path)) {
      messages.push_back(*reason);
    }
  };
  if (arguments.json.has_value() && *arguments.json != "-") {
    check(*arguments.json);
  }
  if (!arguments.save_weights.has_value()) {
    return;
  }
  if (scenario.training.storage == Storage::shape_only) {
    messages.emplace_back("--save-weights: training.arithmetic is NONE: there are no weights");
    return;
  }
  if (!messages.empty()) {
    return;  // Else the folder would be made for nothing.
  }
  std::error_code error;
  std::filesystem::create_directories(*arguments.save_weights, error);
  if (error) {
    messages.push_back("--save-weights " + *arguments.save_weights + ": " + error.message());
    return;
  }
  for (const Strategy& strategy : scenario.strategies) {
    check(weights_path(*arguments.save_weights, strategy));
  }
}

bool is_colour_terminal() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr && terminal != nullptr &&
         std::strcmp(terminal, "dumb") != 0;
}

}  // namespace

int run_command(const RunArguments& arguments) {
  Messages messages;
  const std::optional<Opened> opened =
      open_scenario(arguments.scenario, overrides(arguments.set, arguments.strategy), messages);
  if (opened.has_value()) {
    check_host_memory(arguments.scenario, opened->scenario, messages);
    if (messages.empty()) {
      check_outputs(arguments, opened->scenario, messages);
    }
  }
  if (!messages.empty()) {
    return report(messages);
  }

  const Scenario& scenario = opened->scenario;
  const RunOptions options{.threads = arguments.threads,
                           .save_weights = arguments.save_weights,
                           .show_progress = isatty(STDERR_FILENO) != 0};
  std::vector<RunResult> runs;
  bool died = false;
  for (const Strategy& strategy : scenario.strategies) {
    runs.push_back(run_strategy(scenario, strategy, opened->sources, options));
    died = died || runs.back().outcome() == "failed";
  }

  const ReportContext context{.version = SHARDSCOPE_VERSION,
                              .simgrid_settings = simgrid_settings()};
  int code = 0;
  if (arguments.json.has_value()) {
    code = write_or_print(*arguments.json, json_report(scenario, runs, context));
  }
  if (code == 0 && arguments.json != "-") {
    code = print(text_report(scenario, runs, context,
                             {.colour = is_colour_terminal(), .quiet = arguments.quiet}));
  }
  return code != 0 ? code : (died ? kDiedExit : 0);
}

int memory_command(const MemoryArguments& arguments) {
  Messages messages;
  MemoryRequest request;
  request.parameters = parse_parameter_counts(arguments.parameters, messages);
  request.world_sizes = parse_world_sizes(arguments.world_sizes, messages);
  request.precision = parse_precision(arguments.precision, messages).value_or(DType::bf16);
  if (!messages.empty()) {
    return report(messages);
  }
  if (arguments.json.has_value()) {
    const int code = write_or_print(
        *arguments.json,
        memory_table_json(request, all_strategies(), model_state_bytes, SHARDSCOPE_VERSION));
    if (code != 0 || *arguments.json == "-") {
      return code;
    }
  }
  return print(memory_table_text(request, all_strategies(), model_state_bytes));
}

int check_command(const CheckArguments& arguments) {
  int code = 0;
  for (const std::string& path : arguments.scenarios) {
    Messages messages;
    const auto opened = open_scenario(path, overrides(arguments.set, std::nullopt), messages);
    if (report(messages) != 0) {
      code = kFaultsExit;
    } else if (print(path + ": ok, " + opened->scenario.digest + "\n") != 0) {
      return kFaultsExit;
    }
  }
  return code;
}

int init_command(const std::string& path) {
  Messages messages;
  const std::optional<std::string> starter = data_file("starter.textproto", messages);
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
    messages.push_back(path + ": exists already");
  }
  if (!messages.empty()) {
    return report(messages);
  }
  if (const std::optional<std::string> error = write_file(path, *starter)) {
    return report({*error});
  }
  return print("wrote " + path + "; try: shardscope run " + path + "\n");
}

int schema_command() {
  Messages messages;
  const std::optional<std::string> schema = data_file("scenario.proto", messages);
  return schema.has_value() ? print(*schema) : report(messages);
}

}  // namespace shardscope
