#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli/commands.h"
#include "sim/cli/open_scenario.h"
#include "sim/cli/output.h"
#include "sim/cluster/collective_time.h"
#include "sim/process/child.h"
#include "sim/report/collective_table.h"
#include "sim/result/result.pb.h"
#include "sim/text/comma_list.h"
#include "sim/text/fault.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"
#include "sim/text/quantity.h"

namespace shardscope {
namespace {

constexpr std::uint64_t kElementBytes = 4;
constexpr std::size_t kMostSizes = 1000;

const std::vector<std::string> kOperations = {"all_reduce", "reduce_scatter", "all_gather",
                                              "broadcast"};

std::optional<Operation> parse_operation(const std::string& text, Messages& messages) {
  for (const Operation operation : {Operation::all_reduce, Operation::reduce_scatter,
                                    Operation::all_gather, Operation::broadcast}) {
    if (text == name(operation)) {
      return operation;
    }
  }
  messages.push_back(format_fault({.place = "--op",
                                   .field = {},
                                   .problem = shown(text) + " is no collective",
                                   .allowed = one_of(kOperations),
                                   .nearest = nearest_name(text, kOperations)}));
  return std::nullopt;
}

void refuse_bytes(const std::string& problem, Messages& messages) {
  messages.push_back(format_fault(
      {.place = "--bytes",
       .field = {},
       .problem = problem,
       .allowed = "a size of 4 bytes to 1TiB or a range, for example 64MiB, 8..128MiB or "
                  "1KiB..1GiB:4, whose sizes grow twofold or as many times as is said",
       .nearest = {}}));
}

std::optional<std::uint64_t> parse_size(const std::string& text) {
  const bool is_bare = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  const ParsedQuantity size = parse_quantity(Dimension::size, is_bare ? text + "B" : text);
  const auto bytes = size.value.has_value() ? whole_bytes(*size.value) : std::nullopt;
  const bool is_good = bytes.has_value() && *bytes >= kElementBytes && *bytes <= 1ULL << 40;
  return is_good ? bytes : std::nullopt;
}

// Whole elements; the last one is not left out.
std::vector<std::uint64_t> parse_sizes(const std::string& text, Messages& messages) {
  const std::size_t dots = text.find("..");
  const std::size_t colon = text.find(':');
  const auto first = parse_size(text.substr(0, dots));
  const auto last =
      dots == std::string::npos
          ? first
          : parse_size(text.substr(
                dots + 2, colon == std::string::npos ? std::string::npos : colon - dots - 2));
  std::uint64_t factor = 2;
  if (colon != std::string::npos) {
    const std::string digits = text.substr(colon + 1);
    const bool is_number = !digits.empty() && digits.size() <= 6 &&
                           digits.find_first_not_of("0123456789") == std::string::npos;
    factor = is_number && dots != std::string::npos ? std::stoull(digits) : 0;
  }
  if (!first.has_value() || !last.has_value() || factor < 2 || *first > *last) {
    refuse_bytes(shown(text) + " is not allowed", messages);
    return {};
  }
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes = *first; bytes <= *last && sizes.size() < kMostSizes; bytes *= factor) {
    sizes.push_back(bytes / kElementBytes * kElementBytes);
  }
  return sizes;
}

// Names of algorithms as scenarios have them, AUTO among them.
std::vector<std::string> parse_algorithms(const std::string& text, Messages& messages) {
  std::vector<std::string> all;
  for (const Algorithm algorithm : kAlgorithms) {
    all.emplace_back(name(algorithm));
  }
  if (text == "all") {
    return all;
  }
  all.emplace_back("AUTO");
  std::vector<std::string> chosen;
  for (const std::string& word : comma_list(text)) {
    if (std::find(all.begin(), all.end(), word) == all.end()) {
      messages.push_back(format_fault({.place = "--algorithm",
                                       .field = {},
                                       .problem = shown(word) + " is no algorithm",
                                       .allowed = "all, or " + one_of(all),
                                       .nearest = nearest_name(word, all)}));
    } else if (std::find(chosen.begin(), chosen.end(), word) == chosen.end()) {
      chosen.push_back(word);
    }
  }
  return chosen;
}

// In a process of its own.
std::optional<std::vector<CollectiveRow>> measure(const Scenario& scenario, Operation operation,
                                                  const std::string& algorithm,
                                                  const std::vector<std::uint64_t>& sizes,
                                                  Messages& messages) {
  const ChildResult child = run_in_child([&] {
    std::vector<CollectiveSize> wanted;
    for (const std::uint64_t bytes : sizes) {
      wanted.push_back({operation, bytes / kElementBytes});
    }
    CollectiveTimes times;
    for (const CollectiveMeasurement& measured : time_collectives(scenario, wanted)) {
      times.add_algorithms(static_cast<int>(measured.algorithm));
      times.add_seconds(measured.seconds);
      times.add_as_flows(measured.as_flows);
    }
    return times.SerializeAsString();
  });
  CollectiveTimes times;
  if (!child.ok || !times.ParseFromString(child.output)) {
    messages.push_back(algorithm + ": the simulation died: " + child.failure);
    return std::nullopt;
  }
  std::vector<CollectiveRow> rows;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto index = static_cast<int>(i);
    rows.push_back({sizes[i], algorithm, static_cast<Algorithm>(times.algorithms(index)),
                    times.as_flows(index), times.seconds(index)});
  }
  return rows;
}

}  // namespace

int collective_command(const CollectiveArguments& arguments) {
  Messages messages;
  const auto operation = parse_operation(arguments.operation, messages);
  const std::vector<std::uint64_t> sizes = parse_sizes(arguments.bytes, messages);
  std::vector<std::string> algorithms;
  if (arguments.algorithm.has_value()) {
    algorithms = parse_algorithms(*arguments.algorithm, messages);
  }
  const auto source = read_point_source(arguments.scenario, arguments.set, {}, messages);
  std::optional<Scenario> opened;
  if (source.has_value()) {
    opened = open_cluster(*source, messages);
  }
  if (!messages.empty() || !opened.has_value() || !operation.has_value()) {
    return report(messages);
  }
  Scenario& scenario = *opened;
  if (algorithms.empty()) {
    const auto& algorithm = scenario.cluster.collective.algorithm;
    algorithms.emplace_back(algorithm.has_value() ? name(*algorithm) : "AUTO");
  }
  std::vector<CollectiveRow> rows;
  for (const std::string& algorithm : algorithms) {
    scenario.cluster.collective.algorithm = find_algorithm(algorithm);
    if (const auto problem = why_not_hierarchical(scenario.cluster)) {
      if (arguments.algorithm == "all") {
        continue;
      }
      return report({"--algorithm: HIERARCHICAL " + *problem});
    }
    const auto measured = measure(scenario, *operation, algorithm, sizes, messages);
    if (!measured.has_value()) {
      report(messages);
      return kDiedExit;
    }
    rows.insert(rows.end(), measured->begin(), measured->end());
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  if (arguments.json.has_value()) {
    const int code = write_or_print(
        *arguments.json, collective_json(scenario, *operation, rows, SHARDSCOPE_VERSION));
    if (code != 0 || *arguments.json == "-") {
      return code;
    }
  }
  return print(
      collective_table(scenario, *operation, rows, is_colour_terminal(), terminal_width()));
}

}  // namespace shardscope
