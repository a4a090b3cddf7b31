#include "sim/cli/commands.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "core/training/formulas.h"
#include "core/training/strategy.h"
#include "sim/cli/open_scenario.h"
#include "sim/cli/output.h"
#include "sim/files/atomic_file.h"
#include "sim/report/memory_table.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

std::optional<std::string> data_file(const char* name, Messages& messages) {
  const auto folder = data_folder(messages);
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

// What is wrong with the file's sweep, beside what has been found already.
void check_sweep(const PointSource& source, Messages& messages) {
  if (axes_of_file(source).empty()) {
    return;
  }
  std::vector<Fault> faults;
  plan_sweep(source, {}, SHARDSCOPE_VERSION, faults);
  for (const Fault& fault : faults) {
    const std::string message = format_fault(fault);
    if (std::find(messages.begin(), messages.end(), message) == messages.end()) {
      messages.push_back(message);
    }
  }
}

}  // namespace

int memory_command(const MemoryArguments& arguments) {
  Messages messages;
  MemoryRequest request;
  request.parameters = parse_parameter_counts(arguments.parameters, messages);
  request.world_sizes = parse_world_sizes(arguments.world_sizes, messages);
  request.precision = parse_precision(arguments.precision, messages).value_or(DType::bf16);
  if (arguments.largest_layer.has_value()) {
    request.largest_layer = parse_largest_layer(*arguments.largest_layer, messages);
    check_largest_layer(request, messages);
  }
  if (!messages.empty()) {
    return report(messages);
  }
  if (arguments.json.has_value()) {
    const int code = write_or_print(
        *arguments.json,
        memory_table_json(request, paper_strategies(), model_state_bytes, SHARDSCOPE_VERSION));
    if (code != 0 || *arguments.json == "-") {
      return code;
    }
  }
  return print(memory_table_text(request, paper_strategies(), model_state_bytes));
}

int check_command(const CheckArguments& arguments) {
  int code = 0;
  for (const std::string& path : arguments.scenarios) {
    Messages messages;
    std::optional<OpenedScenario> opened;
    if (const auto source = read_point_source(path, arguments.set, std::nullopt, messages)) {
      opened = open_scenario(*source, messages);
      check_sweep(*source, messages);
    }
    if (report(messages) != 0) {
      code = kFaultsExit;
    } else if (print(printable(path) + ": ok, " + opened->scenario.digest + "\n") != 0) {
      return kFaultsExit;
    }
  }
  return code;
}

int init_command(const std::string& path) {
  Messages messages;
  const std::optional<std::string> starter = data_file("starter.textproto", messages);
  std::error_code ignored;
  if (path != "-" && std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
    messages.push_back(path + ": exists already");
  }
  if (!messages.empty()) {
    return report(messages);
  }
  if (path == "-") {
    return print(*starter);
  }
  if (const std::optional<std::string> error = write_file(path, *starter)) {
    return report({*error});
  }
  const std::string shown_path = printable(path);
  return print("wrote " + shown_path + "; try: shardscope run " + shown_path + "\n");
}

int schema_command() {
  Messages messages;
  const std::optional<std::string> schema = data_file("scenario.proto", messages);
  return schema.has_value() ? print(*schema) : report(messages);
}

}  // namespace shardscope
