#include "sim/explain/formula_text.h"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <vector>

#include "core/collectives/closed_forms.h"
#include "core/training/gather_plan.h"
#include "core/training/shard_geometry.h"
#include "sim/explain/number_text.h"
#include "sim/report/format.h"

namespace shardscope {
namespace {

std::string bytes_text(std::uint64_t bytes) { return format_count(bytes) + " B"; }

// "2 (N-1)/N"; M are the ranks of a group.
std::string factor_text(Operation operation, char ranks = 'N') {
  const std::string n(1, ranks);
  return (operation == Operation::all_reduce ? "2 (" : "(") + n + "-1)/" + n;
}

// "2 P/N": bytes of an element times how many of them a rank holds.
std::string held_term(std::size_t bytes, Placement placement, const std::string& shard) {
  return std::to_string(bytes) + (placement == Placement::sharded ? shard : " P");
}

// What a rank owns of P.
std::string shard_text(const Strategy& strategy, const Scenario& scenario) {
  if (strategy.partition == Partition::tensor_owner) {
    return " P_own";
  }
  const int group = shard_group_ranks(strategy, scenario.world_size);
  return group == scenario.world_size ? " P/N" : " P/" + std::to_string(group);
}

std::size_t optimizer_bytes(const TrainingOptions& training) {
  return training.has_master_weights() ? 12 : 8;
}

}  // namespace

std::string bytes_per_rank(int world_size, const std::function<std::uint64_t(int)>& bytes) {
  std::vector<std::string> figures;
  bool equal = true;
  for (int rank = 0; rank < world_size; ++rank) {
    equal = equal && bytes(rank) == bytes(0);
    figures.push_back(format_count(bytes(rank)));
  }
  return equal ? bytes_text(bytes(0))
               : listed(figures) + " B (ranks 0 to " + std::to_string(world_size - 1) + ")";
}

namespace {

unsigned unsigned_of(int value) { return static_cast<unsigned>(value); }

// How a broadcast goes; `before_root` is what the rank before the root sent.
std::string broadcast_text(const CollectiveLog& log, std::uint64_t before_root) {
  switch (log.algorithm) {
    case Algorithm::double_tree:
      return "Passed down two trees, half of it in each";
    case Algorithm::direct:
      return "Sent by the root to each rank";
    default:
      return before_root == 0
                 ? "Passed on around the ring, by all but the rank before the root"
                 : "Passed on around rings, in each by all but the rank before the root";
  }
}

}  // namespace

std::string wire_sentence(const Marks& marks, const MovedElements& moved) {
  const CollectiveLog& log = *marks.front()->collective;
  const int ranks = static_cast<int>(marks.size());
  const int n = log.group.size;
  const std::uint64_t bytes = log.chunking.count * size_of(log.dtype);
  const auto mark = [&](int rank) -> const Moment& {
    return *marks[static_cast<std::size_t>(rank)];
  };
  const auto sent = [&](int rank) {
    std::uint64_t elements = 0;
    for (const SentMessage& message : mark(rank).collective->sent) {
      elements += message.values.size();
    }
    return elements * size_of(log.dtype);
  };
  bool even = true;
  for (int rank = 1; rank < ranks; ++rank) {
    even = even && sent(rank) == sent(0);
  }
  const std::string result =
      "; sent " + bytes_per_rank(ranks, sent) + "; so far " +
      bytes_per_rank(ranks, [&](int rank) { return mark(rank).sent_bytes; }) + ".";
  if (moved.root.has_value()) {
    return broadcast_text(log, sent((*moved.root + n - 1) % n)) + ": S = " + bytes_text(bytes) +
           result;
  }
  if (log.algorithm == Algorithm::halving_doubling && !std::has_single_bit(unsigned_of(n))) {
    CollectivePlan plan;
    plan.algorithm = log.algorithm;
    return "By formula of recursive halving and doubling where N is no power of two, S = " +
           bytes_text(bytes) + ": " +
           bytes_per_rank(ranks,
                          [&](int rank) {
                            const CollectiveLog& own = *mark(rank).collective;
                            return size_of(own.dtype) *
                                   predicted_sent_elements({plan, own.operation, n, own.chunking},
                                                           own.group_rank);
                          }) +
           result;
  }
  const bool twice = log.operation == Operation::all_reduce;
  const double each = (twice ? 2.0 : 1.0) * (n - 1) * static_cast<double>(bytes) / n;
  const char letter = n == ranks ? 'N' : 'M';
  return "By formula " + factor_text(log.operation, letter) + " S = " + (twice ? "2 x " : "") +
         std::to_string(n - 1) + "/" + std::to_string(n) + " x " + std::to_string(bytes) + " = " +
         number_text(each) + " B" + (even ? "" : " on average") +
         (letter == 'N' ? "" : ", M ranks of a group") + result;
}

std::string memory_formula(const Strategy& strategy, const Scenario& scenario) {
  const TrainingOptions& training = scenario.training;
  const auto state_bytes = [&](int rank) {
    return predicted_state_bytes({strategy, scenario.model, training, scenario.world_size, rank});
  };
  const auto sum = [&](int rank, std::initializer_list<Category> categories) {
    std::uint64_t bytes = 0;
    for (const Category category : categories) {
      bytes += state_bytes(rank)[static_cast<std::size_t>(category)];
    }
    return bytes;
  };
  const auto figures = [&](std::initializer_list<Category> categories) {
    return bytes_per_rank(scenario.world_size, [&](int rank) { return sum(rank, categories); });
  };
  const std::string p = figures({Category::parameters});
  const std::string g = figures({Category::gradients});
  const std::string rest =
      figures({Category::master_weights, Category::first_moment, Category::second_moment});
  const std::string all =
      figures({Category::parameters, Category::gradients, Category::master_weights,
               Category::first_moment, Category::second_moment});
  const ShardGeometry geometry(strategy, scenario.model,
                               shard_group_ranks(strategy, scenario.world_size));
  const std::size_t padding = geometry.full_elements() - scenario.model.parameters();
  const std::string shard = shard_text(strategy, scenario);
  const auto number = [](const std::string& bytes) { return bytes.substr(0, bytes.size() - 2); };
  const bool even = p.back() == 'B' && g.back() == 'B' && rest.back() == 'B';
  return held_term(size_of(training.precision), strategy.parameters, shard) + " + " +
         held_term(size_of(training.accumulate_precision()), strategy.gradients, shard) + " + " +
         held_term(optimizer_bytes(training), strategy.optimizer, shard) +
         " with P = " + std::to_string(geometry.full_elements()) +
         (padding > 0 ? " (" + std::to_string(padding) + " of padding)" : "") + ": " +
         (even ? number(p) + " + " + number(g) + " + " + number(rest) + " = " : "") + all;
}

namespace {

// Elements that a micro-step gathers, padding included.
std::size_t gathered_elements(const Strategy& strategy, const Scenario& scenario,
                              const ShardGeometry& geometry, bool first_step) {
  std::size_t elements = 0;
  const auto add = [&](const std::vector<std::size_t>& units) {
    for (const std::size_t unit : units) {
      elements += geometry.units()[unit].full_count;
    }
  };
  for (const GatherStep& step : make_gather_plan(
           strategy, geometry,
           ActivationCheckpoints(scenario.model, scenario.training.activation_checkpointing).uses(),
           first_step)) {
    add(step.fetch);
    std::for_each(step.prefetch.begin(), step.prefetch.end(), add);
  }
  return elements;
}

std::size_t persistent_elements(const Strategy& strategy, const ShardGeometry& geometry) {
  std::size_t elements = 0;
  for (const ShardUnit& unit : geometry.units()) {
    elements += is_persistent(strategy, unit) ? unit.full_count : 0;
  }
  return elements;
}

std::string times_text(std::size_t count) { return count > 1 ? std::to_string(count) + " x " : ""; }

std::string gradients_term(const Strategy& strategy, const Scenario& scenario, char ranks) {
  const TrainingOptions& training = scenario.training;
  const std::string w = std::to_string(size_of(training.reduce_precision));
  const std::size_t reductions = strategy.reduction.every_micro_step ? training.micro_batches : 1;
  const Operation operation = strategy.reduction.collective == Reduction::all_reduce
                                  ? Operation::all_reduce
                                  : Operation::reduce_scatter;
  std::string text = "g " + times_text(reductions) + factor_text(operation, ranks) + " " + w + " P";
  if (ranks != 'N') {
    const bool each = strategy.reduce_across_every_micro_step;
    text +=
        " + g across " + times_text(each ? training.micro_batches : 1) + "2 (R-1)/R " + w + " P/M";
  }
  return text;
}

// What the update or its layers' uses send of parameters; empty if nothing.
std::string parameters_term(const Strategy& strategy, const Scenario& scenario, StepKind kind,
                            char ranks) {
  const std::string each = factor_text(Operation::all_gather, ranks) + " " +
                           std::to_string(size_of(scenario.training.precision)) + " ";
  if (strategy.parameters == Placement::sharded) {
    const ShardGeometry geometry(strategy, scenario.model,
                                 shard_group_ranks(strategy, scenario.world_size));
    std::size_t gathered = scenario.training.micro_batches *
                           gathered_elements(strategy, scenario, geometry, kind.is_first);
    gathered += kind.skipped ? 0 : persistent_elements(strategy, geometry);
    return gathered == 2 * geometry.full_elements()
               ? " + p 2 " + each + "P"
               : " + p " + each + "G with G = " + std::to_string(gathered) + " gathered";
  }
  if (strategy.optimizer == Placement::replicated || kind.skipped) {
    return "";
  }
  return strategy.partition == Partition::tensor_owner
             ? " + p " + std::to_string(size_of(scenario.training.precision)) +
                   " P without what the next rank owns"
             : " + p " + each + "P";
}

}  // namespace

std::string wire_formula(const Strategy& strategy, const Scenario& scenario, StepKind kind,
                         const CollectivePlanner& planner) {
  const int group = shard_group_ranks(strategy, scenario.world_size);
  const char ranks = group == scenario.world_size ? 'N' : 'M';
  std::string text =
      gradients_term(strategy, scenario, ranks) + parameters_term(strategy, scenario, kind, ranks);
  if (ranks != 'N') {
    text += " with M = " + std::to_string(group) +
            ", R = " + std::to_string(scenario.world_size / group);
  }
  const auto sent = [&](int rank, const CollectivePlanner& planned_by) {
    return predicted_sent_bytes(
        {strategy, scenario.model, scenario.training, scenario.world_size, rank, &planned_by},
        kind);
  };
  std::uint64_t planned = 0;
  std::uint64_t in_rings = 0;
  for (int rank = 0; rank < scenario.world_size; ++rank) {
    planned += sent(rank, planner);
    in_rings += sent(rank, ring_planner());
  }
  return text + (planned == in_rings ? " = " : " in rings; as planned ") +
         bytes_per_rank(scenario.world_size, [&](int rank) { return sent(rank, planner); });
}

}  // namespace shardscope
