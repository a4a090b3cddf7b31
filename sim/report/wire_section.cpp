#include <algorithm>
#include <cstdint>
#include <string>

#include "sim/report/format.h"
#include "sim/report/sections.h"
#include "sim/result/result.pb.h"

namespace shardscope {

void write_wire(const ComparedRuns& compared, Page& page) {
  std::uint64_t most = 0;
  for (const RunSummary& summary : compared.summaries) {
    most = std::max(most, summary.completed ? summary.wire.all_ranks_sent : 0);
  }
  const Unit unit = byte_unit(static_cast<double>(most));
  const auto figure = [&](std::uint64_t bytes) {
    return significant(static_cast<double>(bytes) / unit.size);
  };
  Table table = strategy_table({"sent", "predicted", "received", "per parameter", "by all ranks"});
  for_completed(compared, [&](const RunResult& run, const RunSummary& summary) {
    const WireBytes& wire = summary.wire;
    const double per_parameter =
        static_cast<double>(wire.sent) / static_cast<double>(run.parameters());
    table.add_row({strategy_name(run), figure(wire.sent), figure(wire.predicted_sent),
                   figure(wire.received), significant(per_parameter) + " B",
                   figure(wire.all_ranks_sent)});
  });
  page.section("Wire of a step, " + std::string(unit.name) + " (the rank that sends most)", table,
               agreement(compared, "Bytes sent", &RunSummary::wire_difference));
}

}  // namespace shardscope
