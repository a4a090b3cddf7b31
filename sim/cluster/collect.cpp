#include "sim/cluster/collect.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/data/digest.h"
#include "core/training/formulas.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/strategy_options.h"

namespace shardscope {
namespace {

constexpr int kMostLinks = 1000;

RunResult base_result(const Scenario& scenario, const Strategy& strategy, const char* outcome) {
  RunResult result;
  result.set_strategy(std::string(strategy.name));
  result.set_world_size(scenario.world_size);
  result.set_parameters(scenario.model.parameters());
  result.set_outcome(outcome);
  for (const auto& [name, value] : options_of(strategy, scenario.world_size)) {
    StrategyOption& option = *result.add_options();
    option.set_name(name);
    option.set_value(value);
  }
  return result;
}

void set_memory(const CategoryBytes& bytes, std::uint64_t total, MemoryByCategory& message) {
  for (const std::uint64_t value : bytes) {
    message.add_bytes(value);
  }
  message.set_total(total);
}

std::uint64_t sum(const CategoryBytes& bytes) {
  std::uint64_t total = 0;
  for (const std::uint64_t value : bytes) {
    total += value;
  }
  return total;
}

// The five state categories alone.
CategoryBytes states(CategoryBytes bytes) {
  for (std::size_t i = kStateCategoryCount; i < kCategoryCount; ++i) {
    bytes[i] = 0;
  }
  return bytes;
}

void set_time(const StepTime& time, TimeSplit& message) {
  const auto at = [](const std::array<double, kPhaseCount>& parts, Phase phase) {
    return parts[static_cast<std::size_t>(phase)];
  };
  double exposed_s = 0;
  for (const double part : time.exposed_s) {
    exposed_s += part;
  }
  message.set_wall_s(time.wall_s());
  message.set_forward_s(at(time.compute_s, Phase::forward));
  message.set_backward_s(at(time.compute_s, Phase::backward));
  message.set_optimizer_s(at(time.compute_s, Phase::optimizer));
  message.set_checkpoint_s(at(time.compute_s, Phase::checkpoint));
  message.set_exposed_communication_s(exposed_s);
  message.set_busy_communication_s(time.busy_communication_s);
  message.set_exposed_forward_s(at(time.exposed_s, Phase::forward));
  message.set_exposed_backward_s(at(time.exposed_s, Phase::backward));
  message.set_exposed_optimizer_s(at(time.exposed_s, Phase::optimizer));
}

void add_rank(const Scenario& scenario, const Strategy& strategy, const CollectivePlanner& planner,
              const Rank& rank, RunResult& result) {
  RankResult& message = *result.add_ranks();
  message.set_rank(rank.rank());
  const MemoryLedger& memory = rank.device().memory();
  set_memory(memory.peak(), memory.peak_total(), *message.mutable_peak());
  const CategoryBytes held = states(memory.current());
  set_memory(held, sum(held), *message.mutable_state());
  const TrainingRank place{strategy,    scenario.model, scenario.training, scenario.world_size,
                           rank.rank(), &planner};
  const CategoryBytes predicted = predicted_state_bytes(place);
  set_memory(predicted, sum(predicted), *message.mutable_predicted_state());
  message.set_predicted_peak_bytes(predicted_peak_bytes(place));
  if (scenario.training.optimizer_on_host) {
    message.set_host_peak_bytes(rank.device().host_memory().peak_total());
    message.set_predicted_host_bytes(sum(predicted_host_bytes(place)));
  }
  // A later step that updates, which most are.
  const std::uint64_t predicted_sent = predicted_sent_bytes(place, {});
  for (const RankStepRecord& step : rank.steps()) {
    const StepKind kind{.is_first = &step == &rank.steps().front(),
                        .skipped = step.diagnostics.update.skipped};
    RankStep& step_message = *message.add_steps();
    set_time(step.time, *step_message.mutable_time());
    step_message.set_sent_bytes(step.wire.sent_bytes);
    step_message.set_received_bytes(step.wire.received_bytes);
    step_message.set_predicted_sent_bytes(
        kind.is_first || kind.skipped ? predicted_sent_bytes(place, kind) : predicted_sent);
    step_message.set_sent_between_nodes_bytes(step.wire.between_nodes_bytes);
    step_message.set_control_sent_bytes(step.wire.control_sent_bytes);
  }
}

// By step, then rank.
void add_recordings(const Ranks& ranks, RunResult& result) {
  for (std::size_t i = 0; i < ranks.front()->recorder().steps().size(); ++i) {
    for (const auto& rank : ranks) {
      *result.add_recordings() = rank->recorder().steps()[i];
    }
  }
}

// The rank that finishes the step last, the lowest one on a tie.
const Rank& last_rank(const Ranks& ranks, std::size_t step) {
  const Rank* last = ranks.front().get();
  for (const auto& rank : ranks) {
    if (rank->steps()[step].time.end_s > last->steps()[step].time.end_s) {
      last = rank.get();
    }
  }
  return *last;
}

// Mean of the ranks' losses; L2 norm of the averaged gradient.
void set_diagnostics(const Ranks& ranks, std::size_t step, StepResult& message) {
  double loss = 0;
  double squares = 0;
  for (const auto& rank : ranks) {
    const StepDiagnostics& diagnostics = rank->steps()[step].diagnostics;
    loss += diagnostics.local_loss;
    squares += diagnostics.update.sum_of_squares;
  }
  message.set_loss(loss / static_cast<double>(ranks.size()));
  message.set_grad_norm(std::sqrt(squares));
}

void add_steps(const Scenario& scenario, const Ranks& ranks, RunResult& result) {
  const std::size_t steps = ranks.front()->steps().size();
  const std::int64_t resumed = ranks.front()->resumed_steps();
  for (std::size_t i = 0; i < steps; ++i) {
    StepResult& message = *result.add_steps();
    message.set_step(resumed + static_cast<std::int64_t>(i) + 1);
    const StepDiagnostics& diagnostics = ranks.front()->steps()[i].diagnostics;
    message.set_loss_scale(diagnostics.loss_scale);
    message.set_skipped(diagnostics.update.skipped);
    if (scenario.training.storage == Storage::real) {
      set_diagnostics(ranks, i, message);
    }
    const Rank& last = last_rank(ranks, i);
    message.set_last_rank(last.rank());
    set_time(last.steps()[i].time, *message.mutable_time());
  }
}

// Bytes are those of the busiest link, and latency is all that they do not explain of the time that
// collectives are in flight on the last rank: where chunks are empty a rank may receive nothing and
// yet wait for a chain of messages between the others.
void set_limits(const LinkLoads& loads, const Rank& last, Limits& message) {
  const ComputeLimits& compute = last.device().limits();
  message.set_flops_s(compute.flops_s);
  message.set_memory_bandwidth_s(compute.memory_s);
  message.set_launch_overhead_s(compute.launch_s);
  double busy_s = 0;
  double wall_s = 0;
  double storage_s = 0;
  for (const RankStepRecord& step : last.steps()) {
    busy_s += step.time.busy_communication_s;
    wall_s += step.time.wall_s();
    storage_s += step.time.compute_s[static_cast<std::size_t>(Phase::checkpoint)];
  }
  message.set_storage_s(storage_s);
  if (last.device().host_memory().peak_total() > 0) {
    message.set_host_s(compute.host_s);
  }
  const double bandwidth_s = loads.busiest.empty() ? 0 : loads.busiest.front().seconds;
  const bool has_latency = loads.longest_latency_s > 0;
  message.set_wire_bandwidth_s(bandwidth_s);
  message.set_wire_latency_s(has_latency ? std::max(0.0, busy_s - bandwidth_s) : 0);
  message.set_wall_s(wall_s);
}

double end_of(const Ranks& ranks) {
  double end_s = 0;
  for (const auto& rank : ranks) {
    end_s = std::max(end_s, rank->steps().back().time.end_s);
  }
  return end_s;
}

void add_links(const Platform& platform, const LinkLoads& loads, RunResult& result) {
  for (const LinkLoad& load : loads.busiest) {
    if (result.links_size() == kMostLinks) {
      break;
    }
    const PathLink& link = platform.links()[load.link];
    LinkUse& message = *result.add_links();
    message.set_name(link.name);
    message.set_bandwidth_bytes_per_s(link.bandwidth_bytes_per_s);
    message.set_training_bytes(load.training_bytes);
    message.set_background_bytes(load.background_bytes);
    message.set_busy_s(load.seconds);
  }
}

void add_choices(const ClusterPlanner& planner, RunResult& result) {
  for (const CollectiveChoice& choice : planner.choices()) {
    ChosenAlgorithm& message = *result.add_chosen_algorithms();
    message.set_operation(std::string(name(choice.operation)));
    message.set_ranks(choice.ranks);
    message.set_bytes(choice.bytes);
    message.set_algorithm(std::string(name(choice.algorithm)));
    message.set_estimated_s(choice.estimated_s);
  }
}

// The fp32 weights in torch order, from those who own them.
void for_each_weights(const Ranks& ranks, const std::function<void(Tensor)>& visit) {
  std::vector<std::pair<std::size_t, Tensor>> parts;
  for (const auto& rank : ranks) {
    for (const OwnedState& part : rank->trainer().owned_state()) {
      parts.emplace_back(part.begin, part.weights);
    }
  }
  std::sort(parts.begin(), parts.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [begin, weights] : parts) {
    visit(weights);
  }
}

}  // namespace

RunResult completed_result(const Scenario& scenario, const Strategy& strategy,
                           const RunCluster& cluster, const Ranks& ranks,
                           const std::function<void(Tensor)>& on_weights) {
  RunResult result = base_result(scenario, strategy, "completed");
  add_steps(scenario, ranks, result);
  for (const auto& rank : ranks) {
    add_rank(scenario, strategy, cluster.planner, *rank, result);
  }
  add_recordings(ranks, result);
  const LinkLoads loads = link_loads(cluster.platform, ranks, cluster.background,
                                     scenario.cluster.link_changes, end_of(ranks));
  add_links(cluster.platform, loads, result);
  add_choices(cluster.planner, result);
  set_limits(loads, last_rank(ranks, ranks.front()->steps().size() - 1), *result.mutable_limits());
  if (scenario.training.storage == Storage::real) {
    Fnv1a digest;
    for_each_weights(ranks, [&](Tensor weights) {
      digest.update(weights.data, weights.bytes());
      if (on_weights) {
        on_weights(weights);
      }
    });
    result.set_weights_digest(digest.hex());
  }
  return result;
}

RunResult failed_result(const Scenario& scenario, const Strategy& strategy, const Ranks& ranks,
                        const std::string& failure) {
  RunResult result = base_result(scenario, strategy, "failed");
  result.set_failure(failure);
  add_steps(scenario, ranks, result);
  return result;
}

RunResult out_of_memory_result(const Scenario& scenario, const Strategy& strategy,
                               const Ranks& ranks, int rank, const OutOfMemory& reason) {
  RunResult result = base_result(scenario, strategy, "out_of_memory");
  const TrainingPosition& position = ranks[static_cast<std::size_t>(rank)]->device().position();
  OutOfMemoryResult& message = *result.mutable_out_of_memory();
  message.set_rank(rank);
  message.set_step(position.step);
  message.set_phase(std::string(name(position.phase)));
  if (position.layer.has_value()) {
    message.set_layer("layers." + std::to_string(*position.layer));
  }
  message.set_category(std::string(name(reason.category)));
  message.set_wanted_bytes(reason.wanted_bytes);
  message.set_free_bytes(reason.free_bytes);
  return result;
}

}  // namespace shardscope
