#include "sim/plan/runner.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "core/training/formulas.h"
#include "sim/process/child.h"
#include "sim/run/interruption.h"
#include "sim/run/runner.h"

namespace shardscope {
namespace {

constexpr std::chrono::milliseconds kPause{200};  // Between looks at signals.

// Only with a trace does a later step differ from the first.
Scenario with_steps(Scenario scenario, const Strategy& strategy) {
  scenario.training.steps = strategy.gather.traced ? 2 : 1;
  return scenario;
}

const RankResult* fullest(const RunResult& run) {
  const RankResult* found = nullptr;
  for (const RankResult& rank : run.ranks()) {
    found = found == nullptr || rank.peak().total() > found->peak().total() ? &rank : found;
  }
  return found;
}

PlanFigures figures_of(const Scenario& scenario, const Strategy& strategy, const RunResult& run) {
  PlanFigures figures;
  figures.set_outcome(run.outcome());
  if (run.has_failure()) {
    figures.set_failure(run.failure());
  }
  if (run.has_out_of_memory()) {
    *figures.mutable_out_of_memory() = run.out_of_memory();
  }
  // Rank 0 owns as much as any.
  figures.set_predicted_peak_bytes(
      predicted_peak_bytes({strategy, scenario.model, scenario.training, scenario.world_size, 0}));
  if (const RankResult* rank = fullest(run)) {
    figures.set_peak_bytes(rank->peak().total());
    figures.set_host_bytes(rank->host_peak_bytes());
  }
  std::uint64_t sent = 0;
  std::uint64_t between = 0;
  for (const RankResult& rank : run.ranks()) {
    if (rank.steps_size() > 0) {
      sent += rank.steps(rank.steps_size() - 1).sent_bytes();
      between += rank.steps(rank.steps_size() - 1).sent_between_nodes_bytes();
    }
  }
  const auto ranks = static_cast<std::uint64_t>(std::max(run.ranks_size(), 1));
  figures.set_sent_bytes(sent / ranks);
  figures.set_sent_between_nodes_bytes(between / ranks);
  if (run.steps_size() > 0) {
    *figures.mutable_time() = run.steps(run.steps_size() - 1).time();
  }
  return figures;
}

std::string simulate_task(const PlanTask& task) {
  const Scenario scenario = with_steps(*task.scenario, task.strategy);
  std::vector<std::string> none;
  const Sources sources = open_sources(scenario, none);
  return figures_of(scenario, task.strategy,
                    simulate_strategy(scenario, task.strategy, sources, {}))
      .SerializeAsString();
}

PlanFigures failed(const std::string& reason) {
  PlanFigures figures;
  figures.set_outcome("failed");
  figures.set_failure(reason);
  return figures;
}

}  // namespace

std::vector<PlanFigures> run_plan_tasks(const std::vector<PlanTask>& tasks,
                                        const PlanRunOptions& options) {
  std::vector<PlanFigures> all(tasks.size(), failed("interrupted"));
  ChildPool pool;
  std::size_t done = 0;
  const auto wait = [&] {
    const std::optional<ChildPool::Ended> ended = pool.wait(kPause);
    if (!ended.has_value()) {
      return;
    }
    PlanFigures& figures = all[ended->id];
    if (!ended->result.ok || !figures.ParseFromString(ended->result.output)) {
      figures = failed(ended->result.ok ? "its result cannot be read" : ended->result.failure);
    }
    ++done;
    if (options.progress) {
      options.progress(done, tasks.size());
    }
  };
  for (std::size_t i = 0; i < tasks.size() && Interruption::signal() == 0; ++i) {
    while (pool.running() >= options.jobs && Interruption::signal() == 0) {
      wait();
    }
    const auto problem = pool.start(i, [&] {
      Interruption::leave_to_parent();
      return simulate_task(tasks[i]);
    });
    if (problem.has_value()) {
      all[i] = failed(*problem);
    }
  }
  while (pool.running() > 0 && Interruption::signal() == 0) {
    wait();
  }
  return all;
}

}  // namespace shardscope
