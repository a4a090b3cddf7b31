#include "sim/report/collective_table.h"

#include <json/json.h>

#include <algorithm>
#include <iterator>

#include "sim/report/cluster_text.h"
#include "sim/report/format.h"
#include "sim/report/page.h"
#include "sim/report/table.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

constexpr double kGiga = 1e9;

double fastest_s(const std::vector<CollectiveRow>& rows, std::uint64_t bytes) {
  double fastest = 0;
  for (const CollectiveRow& row : rows) {
    if (row.bytes == bytes) {
      fastest = fastest == 0 ? row.seconds : std::min(fastest, row.seconds);
    }
  }
  return fastest;
}

bool compares(const std::vector<CollectiveRow>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const CollectiveRow& row) { return row.asked != rows.front().asked; });
}

}  // namespace

double algorithm_bandwidth(const CollectiveRow& row) {
  return row.seconds > 0 ? static_cast<double>(row.bytes) / row.seconds : 0;
}

double bus_bandwidth(Operation operation, int ranks, const CollectiveRow& row) {
  const double n = ranks;
  const double others = (n - 1) / n;
  switch (operation) {
    case Operation::all_reduce:
      return 2 * others * algorithm_bandwidth(row);
    case Operation::reduce_scatter:
    case Operation::all_gather:
      return others * algorithm_bandwidth(row);
    case Operation::broadcast:
    case Operation::barrier:
      break;
  }
  return algorithm_bandwidth(row);
}

std::string collective_table(const Scenario& scenario, Operation operation,
                             const std::vector<CollectiveRow>& rows, bool colour,
                             std::size_t width) {
  Page page(colour, width);
  page.paragraph(printable(scenario.name) + ": " + std::string(name(operation)) + " over " +
                     plural(static_cast<std::size_t>(scenario.world_size), "rank") + ", fp32",
                 Style::bold);
  page.entry("network", network_text(scenario.cluster));
  if (const std::string text = placement_text(scenario.cluster); !text.empty()) {
    page.entry("placement", text);
  }
  const auto as_flows = std::count_if(rows.begin(), rows.end(),
                                      [](const CollectiveRow& row) { return row.as_flows; });
  const bool flows = as_flows > 0;
  const bool both = flows && as_flows < std::ssize(rows);
  page.entry("fidelity", both    ? "FLOW where marked ~, MESSAGE elsewhere"
                         : flows ? "FLOW: a transfer for each edge of the schedule"
                                 : "MESSAGE: every message of the schedule");
  const bool marks = compares(rows);
  Table table;
  table.add_column("size, B: algorithm", Align::left);
  table.add_column("elements", Align::right);
  table.add_column("time, us", Align::right);
  table.add_column("algbw, GB/s", Align::right);
  table.add_column("busbw, GB/s", Align::right);
  std::size_t longest = 0;
  for (const CollectiveRow& row : rows) {
    longest = std::max(longest, std::to_string(row.bytes).size());
  }
  for (const CollectiveRow& row : rows) {
    const std::string algorithm(name(row.algorithm));
    const bool is_fastest = marks && row.seconds <= fastest_s(rows, row.bytes) * (1 + 1e-9);
    const std::string size = std::to_string(row.bytes);
    table.add_row({std::string(longest - size.size(), ' ') + size + "  " +
                       (row.asked == algorithm ? row.asked : row.asked + ": " + algorithm) +
                       (both && row.as_flows ? " ~" : "") + (is_fastest ? " *" : ""),
                   std::to_string(row.bytes / 4), significant(row.seconds * 1e6, 4),
                   significant(algorithm_bandwidth(row) / kGiga),
                   significant(bus_bandwidth(operation, scenario.world_size, row) / kGiga)});
  }
  page.section("Times by size", table,
               std::string(marks ? "* The fastest of a size. " : "") +
                   "Time: simulated, from the common begin to the last rank's end. algbw: size / "
                   "time; busbw: algbw x the factor of nccl-tests, to be compared with a link's "
                   "bandwidth.");
  return page.text();
}

std::string collective_json(const Scenario& scenario, Operation operation,
                            const std::vector<CollectiveRow>& rows, const std::string& version) {
  Json::Value root;
  root["shardscope"] = version;
  root["scenario"] = scenario.name;
  root["network"] = network_text(scenario.cluster);
  root["operation"] = std::string(name(operation));
  root["ranks"] = scenario.world_size;
  root["dtype"] = "fp32";
  for (const CollectiveRow& row : rows) {
    Json::Value value;
    value["bytes"] = Json::UInt64{row.bytes};
    value["asked"] = row.asked;
    value["algorithm"] = std::string(name(row.algorithm));
    value["fidelity"] = row.as_flows ? "FLOW" : "MESSAGE";
    value["time_s"] = row.seconds;
    value["algbw_bytes_per_s"] = algorithm_bandwidth(row);
    value["busbw_bytes_per_s"] = bus_bandwidth(operation, scenario.world_size, row);
    root["rows"].append(value);
  }
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "  ";
  builder["precision"] = 17;
  return Json::writeString(builder, root) + "\n";
}

}  // namespace shardscope
