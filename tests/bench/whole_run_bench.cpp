// A whole quickstart, one strategy after another in a child process each as `shardscope run` does
// it, beside its bare arithmetic in one thread; and the host memory it takes beside what the ranks'
// ledgers add up to. The speed should reach 0.8 of the bare arithmetic's, the memory stay under 1.3
// times the ledgers plus 60 MB.

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

#include "core/training/strategy.h"
#include "sim/process/child.h"
#include "sim/result/result.pb.h"
#include "sim/run/runner.h"
#include "sim/scenario/data_dir.h"
#include "sim/scenario/reader.h"
#include "tests/bench/bare_training.h"
#include "tests/bench/side_by_side.h"

namespace shardscope::bench {
namespace {

Scenario quickstart() {
  std::vector<Fault> faults;
  const auto scenario = read_scenario(SHARDSCOPE_SOURCE_DIR "/scenarios/quickstart.textproto", {},
                                      *find_data_dir() / "platforms", faults);
  if (!scenario.has_value()) {
    std::fprintf(stderr, "quickstart.textproto has faults\n");
    std::exit(1);
  }
  return *scenario;
}

// Of the children so far, the largest.
double peak_host_bytes_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

double ledger_bytes(const RunResult& run) {
  double bytes = 0;
  for (const RankResult& rank : run.ranks()) {
    bytes += static_cast<double>(rank.peak().total());
  }
  return bytes;
}

void whole_run(benchmark::State& state) {
  const Scenario scenario = quickstart();
  std::vector<std::string> faults;
  const Sources sources = open_sources(scenario, faults);
  double largest_ledgers = 0;
  side_by_side(
      state,
      [&] {
        for (const Strategy& strategy : scenario.strategies) {
          const RunResult run = run_strategy(scenario, strategy, sources, {});
          largest_ledgers = std::max(largest_ledgers, ledger_bytes(run));
        }
      },
      [&] {
        // In a child as well, so that both begin with memory that was never touched.
        run_in_child([&] {
          for (const Strategy& strategy : scenario.strategies) {
            BareTraining(scenario, strategy).run();
          }
          return std::string();
        });
      });
  state.counters["ledger_bytes"] = largest_ledgers;
  state.counters["host_bytes_allowed"] = 1.3 * largest_ledgers + 60e6;
  state.counters["host_bytes"] = peak_host_bytes_of_children();
}

BENCHMARK(whole_run)->UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace shardscope::bench
