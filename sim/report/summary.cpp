#include "sim/report/summary.h"

#include <algorithm>
#include <numeric>

#include "sim/report/format.h"
#include "sim/result/result.pb.h"

namespace shardscope {
namespace {

MeanTime mean_time(const RunResult& run) {
  const int first = run.steps_size() > 1 ? 1 : 0;
  const int count = run.steps_size() - first;
  MeanTime mean;
  for (int i = first; i < run.steps_size(); ++i) {
    const TimeSplit& time = run.steps(i).time();
    mean.wall_s += time.wall_s() / count;
    mean.forward_s += time.forward_s() / count;
    mean.backward_s += time.backward_s() / count;
    mean.optimizer_s += time.optimizer_s() / count;
    mean.checkpoint_s += time.checkpoint_s() / count;
    mean.exposed_s += time.exposed_communication_s() / count;
    mean.busy_s += time.busy_communication_s() / count;
  }
  return mean;
}

CategoryBytes category_bytes(const MemoryByCategory& memory) {
  CategoryBytes bytes{};
  const auto given =
      std::min<std::size_t>(static_cast<std::size_t>(memory.bytes_size()), kCategoryCount);
  std::copy_n(memory.bytes().begin(), given, bytes.begin());
  return bytes;
}

FullestRank fullest_rank(const RunResult& run) {
  FullestRank fullest;
  const RankResult* found = nullptr;
  for (const RankResult& rank : run.ranks()) {
    if (found == nullptr || rank.peak().total() > found->peak().total()) {
      found = &rank;
    }
  }
  if (found != nullptr) {
    fullest.rank = found->rank();
    fullest.peak = category_bytes(found->peak());
    fullest.state = category_bytes(found->state());
    fullest.predicted_state = category_bytes(found->predicted_state());
    fullest.peak_total = found->peak().total();
    fullest.predicted_peak = found->predicted_peak_bytes();
  }
  return fullest;
}

WireBytes last_step_wire(const RunResult& run) {
  WireBytes wire;
  for (const RankResult& rank : run.ranks()) {
    if (rank.steps().empty()) {
      continue;
    }
    const RankStep& step = *rank.steps().rbegin();
    wire.sent = std::max(wire.sent, step.sent_bytes());
    wire.predicted_sent = std::max(wire.predicted_sent, step.predicted_sent_bytes());
    wire.received = std::max(wire.received, step.received_bytes());
    wire.all_ranks_sent += step.sent_bytes();
    wire.control_sent = std::max(wire.control_sent, step.control_sent_bytes());
  }
  return wire;
}

std::vector<WireSteps> wire_steps(const RunResult& run) {
  std::vector<WireSteps> steps;
  for (int i = 0; i < run.steps_size(); ++i) {
    std::uint64_t sent = 0;
    for (const RankResult& rank : run.ranks()) {
      sent = std::max(sent, i < rank.steps_size() ? rank.steps(i).sent_bytes() : 0);
    }
    if (steps.empty() || steps.back().sent != sent) {
      steps.push_back({.first = run.steps(i).step(), .last = 0, .sent = sent});
    }
    steps.back().last = run.steps(i).step();
  }
  return steps;
}

std::string difference_text(std::uint64_t measured, std::uint64_t predicted) {
  return format_count(measured) + " B measured, " + format_count(predicted) + " B predicted";
}

std::optional<std::string> find_state_difference(const RunResult& run) {
  for (const RankResult& rank : run.ranks()) {
    const CategoryBytes state = category_bytes(rank.state());
    const CategoryBytes predicted = category_bytes(rank.predicted_state());
    for (std::size_t i = 0; i < kStateCategoryCount; ++i) {
      if (state[i] != predicted[i]) {
        return run.strategy() + ", rank " + std::to_string(rank.rank()) + ", " +
               std::string(kCategoryNames[i]) + ": " + difference_text(state[i], predicted[i]);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> find_peak_difference(const RunResult& run) {
  for (const RankResult& rank : run.ranks()) {
    if (rank.peak().total() != rank.predicted_peak_bytes()) {
      return run.strategy() + ", rank " + std::to_string(rank.rank()) + ": " +
             difference_text(rank.peak().total(), rank.predicted_peak_bytes());
    }
  }
  return std::nullopt;
}

std::optional<std::string> find_wire_difference(const RunResult& run) {
  for (const RankResult& rank : run.ranks()) {
    for (int i = 0; i < rank.steps_size(); ++i) {
      const RankStep& step = rank.steps(i);
      if (step.sent_bytes() != step.predicted_sent_bytes()) {
        return run.strategy() + ", rank " + std::to_string(rank.rank()) + ", step " +
               std::to_string(i + 1) + ": " +
               difference_text(step.sent_bytes(), step.predicted_sent_bytes());
      }
    }
  }
  return std::nullopt;
}

}  // namespace

RunSummary summarize(const RunResult& run) {
  RunSummary summary;
  summary.completed = run.outcome() == "completed";
  for (const StepResult& step : run.steps()) {
    if (step.skipped()) {
      summary.skipped_steps.push_back(static_cast<int>(step.step()));
    }
  }
  summary.mean = mean_time(run);
  summary.memory = fullest_rank(run);
  summary.wire = last_step_wire(run);
  summary.wire_steps = wire_steps(run);
  if (summary.completed) {
    summary.state_difference = find_state_difference(run);
    summary.wire_difference = find_wire_difference(run);
    summary.peak_difference = find_peak_difference(run);
  }
  return summary;
}

std::uint64_t state_total(const CategoryBytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.begin() + kStateCategoryCount, std::uint64_t{0});
}

}  // namespace shardscope
