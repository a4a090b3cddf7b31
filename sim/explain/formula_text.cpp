#include "sim/explain/formula_text.h"

#include <vector>

#include "core/training/formulas.h"
#include "core/training/shard_geometry.h"
#include "sim/explain/number_text.h"
#include "sim/report/format.h"

namespace shardscope {
namespace {

std::string bytes_text(std::uint64_t bytes) { return format_count(bytes) + " B"; }

std::string factor_text(Operation operation) {
  return operation == Operation::all_reduce ? "2 (N-1)/N" : "(N-1)/N";
}

// "2 P/N": bytes of an element times how many of them a rank holds.
std::string held_term(std::size_t bytes, Placement placement) {
  return std::to_string(bytes) + " P" + (placement == Placement::sharded ? "/N" : "");
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

std::string wire_sentence(const Marks& marks) {
  const CollectiveLog& log = *marks.front()->collective;
  const int n = static_cast<int>(marks.size());
  const std::uint64_t bytes = log.chunking.count * size_of(log.dtype);
  const bool twice = log.operation == Operation::all_reduce;
  const double each = (twice ? 2.0 : 1.0) * (n - 1) * static_cast<double>(bytes) / n;
  const auto mark = [&](int rank) -> const Moment& {
    return *marks[static_cast<std::size_t>(rank)];
  };
  const auto sent = [&](int rank) {
    std::uint64_t elements = 0;
    for (const SentChunk& chunk : mark(rank).collective->sent) {
      elements += chunk.values.size();
    }
    return elements * size_of(log.dtype);
  };
  bool even = true;
  for (int rank = 1; rank < n; ++rank) {
    even = even && sent(rank) == sent(0);
  }
  return "By formula " + factor_text(log.operation) + " S = " + (twice ? "2 x " : "") +
         std::to_string(n - 1) + "/" + std::to_string(n) + " x " + std::to_string(bytes) + " = " +
         number_text(each) + " B" + (even ? "" : " on average") + "; sent " +
         bytes_per_rank(n, sent) + "; so far " +
         bytes_per_rank(n, [&](int rank) { return mark(rank).sent_bytes; }) + ".";
}

std::string memory_formula(const Strategy& strategy, const Scenario& scenario) {
  const std::size_t b = size_of(scenario.training.precision);
  const CategoryBytes bytes =
      predicted_state_bytes({strategy, scenario.model, scenario.training, scenario.world_size, 0});
  const std::uint64_t p = bytes[static_cast<std::size_t>(Category::parameters)];
  const std::uint64_t g = bytes[static_cast<std::size_t>(Category::gradients)];
  std::uint64_t rest = 0;
  for (const Category category :
       {Category::master_weights, Category::first_moment, Category::second_moment}) {
    rest += bytes[static_cast<std::size_t>(category)];
  }
  const ShardGeometry geometry(strategy, scenario.model, scenario.world_size);
  const std::size_t padding = geometry.full_elements() - scenario.model.parameters();
  return held_term(b, strategy.parameters) + " + " + held_term(b, strategy.gradients) + " + " +
         held_term(optimizer_bytes(scenario.training), strategy.optimizer) +
         " with P = " + std::to_string(geometry.full_elements()) +
         (padding > 0 ? " (" + std::to_string(padding) + " of padding)" : "") + ": " +
         std::to_string(p) + " + " + std::to_string(g) + " + " + std::to_string(rest) + " = " +
         bytes_text(p + g + rest);
}

std::string wire_formula(const Strategy& strategy, const Scenario& scenario) {
  const TrainingOptions& training = scenario.training;
  const Operation reduction = strategy.reduction.collective == Reduction::all_reduce
                                  ? Operation::all_reduce
                                  : Operation::reduce_scatter;
  std::string text = "g " + factor_text(reduction) + " " +
                     std::to_string(size_of(training.reduce_precision)) + " P";
  const std::string parameters = "(N-1)/N " + std::to_string(size_of(training.precision)) + " P";
  if (strategy.parameters == Placement::sharded) {
    text += " + p 2 " + parameters;
  } else if (strategy.optimizer == Placement::sharded) {
    text += " + p " + parameters;
  }
  return text + " = " + bytes_per_rank(scenario.world_size, [&](int rank) {
           return predicted_sent_bytes(
               {strategy, scenario.model, training, scenario.world_size, rank}, {});
         });
}

}  // namespace shardscope
