#include "sim/plan/runner.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "core/training/formulas.h"
#include "sim/plan/micro_steps.h"
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

std::uint64_t predicted_peak_of_fullest(const Scenario& scenario, const Strategy& strategy) {
  std::uint64_t most = 0;
  for (int rank = 0; rank < scenario.world_size; ++rank) {
    most = std::max(most, predicted_peak_bytes({strategy, scenario.model, scenario.training,
                                                scenario.world_size, rank}));
  }
  return most;
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
  if (run.outcome() == "out_of_memory") {
    figures.set_predicted_peak_bytes(predicted_peak_of_fullest(scenario, strategy));
  }
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
  figures.set_sent_bytes(sent);
  figures.set_sent_between_nodes_bytes(between);
  figures.set_simulated_micro_steps(static_cast<std::int64_t>(scenario.training.micro_batches));
  if (run.steps_size() > 0) {
    *figures.mutable_time() = run.steps(run.steps_size() - 1).time();
  }
  return figures;
}

PlanFigures failed(const std::string& reason) {
  PlanFigures figures;
  figures.set_outcome("failed");
  figures.set_failure(reason);
  return figures;
}

PlanFigures figures_of(const ChildResult& child) {
  PlanFigures figures;
  if (!child.ok || !figures.ParseFromString(child.output)) {
    return failed(child.ok ? "its result cannot be read" : child.failure);
  }
  return figures;
}

std::string simulate(const Scenario& scenario, const Strategy& strategy) {
  std::vector<std::string> none;
  const Sources sources = open_sources(scenario, none);
  return figures_of(scenario, strategy, simulate_strategy(scenario, strategy, sources, {}))
      .SerializeAsString();
}

Scenario with_micro_steps(Scenario scenario, std::size_t count) {
  TrainingOptions& training = scenario.training;
  training.global_batch = training.global_batch / training.micro_batches * count;
  training.micro_batches = count;
  return scenario;
}

std::string simulate_task(const PlanTask& task) {
  const Scenario scenario = with_steps(*task.scenario, task.strategy);
  if (const auto counts = few_micro_steps(scenario)) {
    std::array<PlanFigures, 3> few;
    for (std::size_t i = 0; i < few.size(); ++i) {
      few[i] = figures_of(run_in_child(
          [&] { return simulate(with_micro_steps(scenario, (*counts)[i]), task.strategy); }));
    }
    if (const auto figures = repeated(few, *counts, scenario.training.micro_batches)) {
      return figures->SerializeAsString();
    }
  }
  return simulate(scenario, task.strategy);
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
    all[ended->id] = figures_of(ended->result);
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
