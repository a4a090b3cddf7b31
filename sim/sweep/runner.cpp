#include "sim/sweep/runner.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

#include "core/check.h"
#include "sim/process/child.h"
#include "sim/report/format.h"
#include "sim/result/result.pb.h"
#include "sim/run/host_memory.h"
#include "sim/run/interruption.h"
#include "sim/run/runner.h"
#include "sim/run/sources.h"

namespace shardscope {
namespace {

constexpr std::chrono::milliseconds kPause{200};  // Between looks at signals and progress.

// Faults of one point as the reason of its rows: places say nothing there.
std::string reason_of(const std::vector<Fault>& faults) {
  std::string reason;
  for (const Fault& fault : faults) {
    Fault placeless = fault;
    placeless.place.clear();
    reason += (reason.empty() ? "" : "; ") + format_fault(placeless).substr(2);
  }
  return reason;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += (all.empty() ? "" : "; ") + text;
  }
  return all;
}

// The task's strategy with the options that the point's scenario gives it.
const Strategy& strategy_of(const Sweep& sweep, std::size_t task, const Scenario& scenario) {
  const std::string& name = sweep.strategies[task % sweep.strategies.size()];
  const auto found = std::find_if(scenario.strategies.begin(), scenario.strategies.end(),
                                  [&](const Strategy& strategy) { return strategy.name == name; });
  SHARDSCOPE_CHECK(found != scenario.strategies.end(), "a point without the sweep's strategy");
  return *found;
}

// The child's work.
std::string run_task(const Sweep& sweep, std::size_t task, const Scenario& scenario) {
  std::vector<std::string> problems;
  const Sources sources = open_sources(scenario, problems);
  if (!problems.empty()) {
    return failure_line(sweep, task, joined(problems));
  }
  const Strategy& strategy = strategy_of(sweep, task, scenario);
  return result_line(sweep, task, scenario, simulate_strategy(scenario, strategy, sources, {}));
}

class TaskRunner {
 public:
  TaskRunner(const PointSource& source, const Sweep& sweep, StoreWriter& store,
             const SweepOptions& options)
      : source_(source), sweep_(sweep), store_(store), options_(options) {}

  void run(const std::vector<std::size_t>& tasks) {
    for (const std::size_t task : tasks) {
      if (stopped()) {
        break;
      }
      prepare(task / sweep_.strategies.size());
      if (scenario_.has_value()) {
        start(task);
      } else {
        add_row(failure_line(sweep_, task, reason_));
      }
    }
    while (pool_.running() > 0 && !stopped()) {
      wait();
    }
    keep_finished();
  }

 private:
  bool stopped() const { return Interruption::signal() != 0 || store_.error().has_value(); }

  // The point's scenario, which its strategies share.
  void prepare(std::size_t point) {
    if (point_ == point) {
      return;
    }
    point_ = point;
    std::vector<Fault> faults;
    scenario_ = scenario_at(source_, sweep_, point, faults);
    reason_ = reason_of(faults);
  }

  void start(std::size_t task) {
    const Strategy& strategy = strategy_of(sweep_, task, *scenario_);
    const std::uint64_t needed = needed_host_bytes(*scenario_, strategy);
    while (pool_.running() > 0 && !stopped() &&
           (pool_.running() >= options_.jobs || !has_room(needed))) {
      wait();
    }
    if (stopped()) {
      return;
    }
    if (!has_room(needed)) {
      add_row(failure_line(sweep_, task,
                           "simulating it takes about " +
                               format_bytes(static_cast<double>(needed)) +
                               " of the machine's memory, more than there is; fewer ranks, a "
                               "smaller model, or training.arithmetic: NONE (shape-only)"));
      return;
    }
    const auto problem = pool_.start(task, [&] {
      Interruption::leave_to_parent();
      store_.close();
      return run_task(sweep_, task, *scenario_);
    });
    if (problem.has_value()) {
      add_row(failure_line(sweep_, task, *problem));
      return;
    }
    held_[task] = needed;
    held_bytes_ += needed;
  }

  // What is available is measured when nothing runs: what children will take cannot be seen while
  // they begin.
  bool has_room(std::uint64_t needed) {
    if (pool_.running() == 0) {
      available_ = available_host_bytes();
    }
    return held_bytes_ + needed <= available_;
  }

  void wait() {
    if (const std::optional<ChildPool::Ended> ended = pool_.wait(kPause)) {
      end(*ended);
    } else {
      show_progress();
    }
  }

  // What has ended by the time that everything is to stop.
  void keep_finished() {
    while (const std::optional<ChildPool::Ended> ended = pool_.wait({})) {
      end(*ended);
    }
  }

  void end(const ChildPool::Ended& ended) {
    held_bytes_ -= held_[ended.id];
    held_.erase(ended.id);
    add_row(ended.result.ok ? ended.result.output
                            : failure_line(sweep_, ended.id, ended.result.failure));
  }

  void add_row(const std::string& line) {
    store_.append(line);
    ++rows_;
    show_progress();
  }

  void show_progress() const {
    if (options_.on_progress) {
      options_.on_progress(rows_);
    }
  }

  const PointSource& source_;
  const Sweep& sweep_;
  StoreWriter& store_;
  const SweepOptions& options_;
  ChildPool pool_;
  std::optional<std::size_t> point_;
  std::optional<Scenario> scenario_;
  std::string reason_;
  std::map<std::size_t, std::uint64_t> held_;  // Memory by the task that is to hold it.
  std::uint64_t held_bytes_ = 0;
  std::uint64_t available_ = 0;
  std::size_t rows_ = 0;
};

}  // namespace

void run_tasks(const PointSource& source, const Sweep& sweep, const std::vector<std::size_t>& tasks,
               StoreWriter& store, const SweepOptions& options) {
  TaskRunner(source, sweep, store, options).run(tasks);
}

}  // namespace shardscope
