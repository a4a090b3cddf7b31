#include "sim/plan/recommendation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/training/formulas.h"
#include "sim/report/format.h"

namespace shardscope {
namespace {

constexpr double kAlike = 0.01;        // Candidates that are as fast as each other.
constexpr double kLittle = 0.05;       // A cost that does not matter.
constexpr double kWorthSaving = 0.05;  // Of the peak.
constexpr double kMostBandwidth = 64;  // Times that of the cluster.
constexpr int kBisections = 4;         // Of the logarithm of a factor of 2.

class Adviser {
 public:
  Adviser(const Plan& plan, int ranks, const PlanRunOptions& options)
      : plan_(plan), ranks_(ranks), options_(options) {}

  Recommendation advise() {
    Recommendation recommendation;
    recommendation.ranks = ranks_;
    recommendation.row = plan_.rows.size();
    const PlanRow* best = find_best();
    if (best == nullptr) {
      recommendation.reasons = nothing_fits();
      return recommendation;
    }
    recommendation.row = static_cast<std::size_t>(best - plan_.rows.data());
    recommendation.reasons.push_back(what_it_is(*best));
    for (const auto& reason : {own_reason(*best), offload_reason(*best), batch_reason(*best),
                               recompute_reason(*best), thrift_reason(*best)}) {
      if (!reason.empty()) {
        recommendation.reasons.push_back(reason);
      }
    }
    return recommendation;
  }

 private:
  const PlanPoint& point(const PlanRow& row) const { return plan_.point_of(row); }
  bool is_here(const PlanRow& row) const { return point(row).ranks == ranks_; }

  const PlanRow* find_best() const {
    const PlanRow* fastest = nullptr;
    for (const PlanRow& row : plan_.rows) {
      if (is_here(row) && row.completed() &&
          (fastest == nullptr || tokens_per_s(plan_, row) > tokens_per_s(plan_, *fastest))) {
        fastest = &row;
      }
    }
    const PlanRow* best = fastest;
    for (const PlanRow& row : plan_.rows) {
      if (is_here(row) && row.completed() &&
          tokens_per_s(plan_, row) >= tokens_per_s(plan_, *fastest) * (1 - kAlike) &&
          std::pair(point(row).recompute, peak_bytes(row)) <
              std::pair(point(*best).recompute, peak_bytes(*best))) {
        best = &row;
      }
    }
    return best;
  }

  static std::string size(double bytes) { return format_bytes(bytes); }

  std::string speed(const PlanRow& row) const {
    return format_count(static_cast<std::uint64_t>(std::llround(tokens_per_s(plan_, row)))) + " " +
           unit_of_rows(plan_) + "/s";
  }

  std::string candidate(const PlanRow& row) const {
    return std::string(row.strategy.name) + ", micro-batch " +
           std::to_string(point(row).micro_batch) +
           (point(row).accumulation > 1 ? ", " + plural(point(row).accumulation, "micro-step")
                                        : "") +
           (point(row).recompute ? ", activations recomputed" : "");
  }

  std::string what_it_is(const PlanRow& row) const {
    const auto memory = static_cast<double>(point(row).scenario.device.memory_bytes);
    return candidate(row) + ", " + std::string(name(point(row).scenario.training.precision)) +
           ": " + speed(row) + ", " + format_percent(model_flops_utilization(plan_, row)) +
           " of the devices' peak; it needs " + size(static_cast<double>(peak_bytes(row))) +
           " of " + size(memory) + ".";
  }

  // A larger micro-batch of the same strategy.
  std::string batch_reason(const PlanRow& best) const {
    const PlanRow* larger = nullptr;
    for (const PlanRow& row : plan_.rows) {
      if (is_here(row) && row.strategy.name == best.strategy.name &&
          point(row).recompute == point(best).recompute &&
          point(row).micro_batch > point(best).micro_batch &&
          (larger == nullptr || point(row).micro_batch < point(*larger).micro_batch)) {
        larger = &row;
      }
    }
    if (larger == nullptr) {
      return {};
    }
    const std::string batch = "Micro-batch " + std::to_string(point(*larger).micro_batch);
    if (!larger->completed()) {
      return batch + " " + lack(*larger) + ".";
    }
    const double gain = tokens_per_s(plan_, *larger) / tokens_per_s(plan_, best) - 1;
    return batch + " gives " + (gain < 0 ? "less: " : "no more than ") +
           format_percent(std::abs(gain)) + (gain < 0 ? " fewer " : " more ") +
           unit_of_rows(plan_) + "/s.";
  }

  // The other of both choices.
  std::string recompute_reason(const PlanRow& best) const {
    for (const PlanRow& row : plan_.rows) {
      if (!is_here(row) || row.strategy.name != best.strategy.name ||
          point(row).micro_batch != point(best).micro_batch ||
          point(row).recompute == point(best).recompute) {
        continue;
      }
      if (point(best).recompute) {
        return row.completed() ? "" : "Without recomputation it " + lack(row) + ".";
      }
      if (row.completed() && peak_bytes(row) < peak_bytes(best)) {
        return "Recomputation would save " +
               size(static_cast<double>(peak_bytes(best) - peak_bytes(row))) + " and cost " +
               cost_text(row.step_s() / best.step_s() - 1) + ".";
      }
    }
    return {};
  }

  // The same with the optimizer on the device.
  std::string offload_reason(const PlanRow& best) const {
    if (!point(best).scenario.training.optimizer_on_host) {
      return {};
    }
    Scenario scenario = point(best).scenario;
    scenario.training.optimizer_on_host = false;
    PlanRow row = best;
    row.figures = run_plan_tasks({{&scenario, best.strategy}}, {options_.jobs, nullptr}).front();
    if (!row.completed()) {
      return "With the optimizer on the devices it " + lack(row) + ".";
    }
    return "The optimizer on the host costs " + cost_text(best.step_s() / row.step_s() - 1) +
           ": on the devices it would be " + speed(row) + " and need " +
           size(static_cast<double>(peak_bytes(row))) + ".";
  }

  // "does not fit: 1.2 GB too much, at activations in forward".
  std::string lack(const PlanRow& row) const {
    if (row.figures.outcome() == "failed") {
      return "could not be simulated: " + row.figures.failure();
    }
    const auto memory = static_cast<double>(point(row).scenario.device.memory_bytes);
    const double over = static_cast<double>(peak_bytes(row)) - memory;
    const OutOfMemoryResult& reason = row.figures.out_of_memory();
    std::string category = reason.category();
    std::replace(category.begin(), category.end(), '_', ' ');
    return "does not fit: " + size(over) + " too much, out of memory at " + category + " in " +
           reason.phase();
  }

  static std::string cost_text(double cost) {
    return cost < 0.0005 ? "nothing" : format_percent(cost);
  }

  // What the configuration asks for, if that is something else.
  std::string own_reason(const PlanRow& best) const {
    if (plan_.config_strategy.empty() || best.strategy.name == plan_.config_strategy) {
      return {};
    }
    for (const PlanRow& row : plan_.rows) {
      if (is_beside(row, best) && row.strategy.name == plan_.config_strategy) {
        return "The configuration asks for " + plan_.config_strategy +
               (row.completed()
                    ? ": " + speed(row) + ", " + size(static_cast<double>(peak_bytes(row))) + "."
                    : ", which " + lack(row) + ".");
      }
    }
    return {};
  }

  // Whether they differ in the strategy alone.
  bool is_beside(const PlanRow& a, const PlanRow& b) const {
    return point(a).ranks == point(b).ranks && point(a).micro_batch == point(b).micro_batch &&
           point(a).recompute == point(b).recompute;
  }

  // A strategy that holds less.
  std::string thrift_reason(const PlanRow& best) const {
    const PlanRow* other = nullptr;
    for (const PlanRow& row : plan_.rows) {
      if (row.completed() && is_beside(row, best) &&
          static_cast<double>(peak_bytes(row)) <
              (1 - kWorthSaving) * static_cast<double>(peak_bytes(best)) &&
          (other == nullptr || row.step_s() < other->step_s())) {
        other = &row;
      }
    }
    if (other == nullptr) {
      return {};
    }
    const double cost = other->step_s() / best.step_s() - 1;
    const std::string saving = std::string(other->strategy.name) + " would save " +
                               size(static_cast<double>(peak_bytes(best) - peak_bytes(*other))) +
                               " that you do not need and cost " +
                               format_percent(std::max(0.0, cost));
    return cost < kLittle ? saving + "." : saving + bandwidth_reason(best, *other);
  }

  std::string bandwidth_reason(const PlanRow& best, const PlanRow& other) const {
    const Cluster& cluster = point(best).scenario.cluster;
    const bool is_built = cluster.spec.fabric.has_value() && !cluster.file.has_value();
    const bool crosses = static_cast<std::size_t>(ranks_) > cluster.devices_per_node;
    if (!is_built || !crosses) {
      return ".";
    }
    const double bandwidth = cluster.spec.fabric->cable.bandwidth_bytes_per_s;
    const std::string here = " at " + format_bits_per_s(bandwidth);
    double enough = 1;
    double cost = 1;
    while (cost >= kLittle && enough < kMostBandwidth) {
      enough *= 2;
      cost = cost_at(best, other, enough);
    }
    if (!(cost < kLittle)) {
      return here + ", and " + format_percent(cost) + " even at " +
             format_bits_per_s(bandwidth * enough) + ".";
    }
    double too_little = enough / 2;
    for (int i = 0; i < kBisections; ++i) {
      const double middle = std::sqrt(too_little * enough);
      (cost_at(best, other, middle) < kLittle ? enough : too_little) = middle;
    }
    return here + "; from about " + format_bits_per_s(bandwidth * enough, 2) +
           " on it would cost less than " + format_percent(kLittle) + ".";
  }

  // What the other costs where the network's links are so many times as fast.
  double cost_at(const PlanRow& best, const PlanRow& other, double factor) const {
    Scenario with_best = point(best).scenario;
    Scenario with_other = point(other).scenario;
    for (Scenario* scenario : {&with_best, &with_other}) {
      scenario->cluster.spec.fabric->cable.bandwidth_bytes_per_s *= factor;
    }
    const std::vector<PlanFigures> figures = run_plan_tasks(
        {{&with_best, best.strategy}, {&with_other, other.strategy}}, {options_.jobs, nullptr});
    return figures[1].time().wall_s() / figures[0].time().wall_s() - 1;
  }

  std::vector<std::string> nothing_fits() const {
    const PlanRow* closest = nullptr;
    for (const PlanRow& row : plan_.rows) {
      if (is_here(row) && row.figures.outcome() == "out_of_memory" &&
          (closest == nullptr || peak_bytes(row) < peak_bytes(*closest))) {
        closest = &row;
      }
    }
    if (closest == nullptr) {
      return {"Nothing could be simulated."};
    }
    return {"Nothing fits.",
            "Closest is " + candidate(*closest) + ", which " + lack(*closest) + ".",
            ways_to_fit(*closest)};
  }

  // More ranks and the host can take the states that are sharded, and no more than these.
  std::string ways_to_fit(const PlanRow& row) const {
    const Scenario& scenario = point(row).scenario;
    std::uint64_t states = 0;
    for (const std::uint64_t bytes : predicted_state_bytes(
             {row.strategy, scenario.model, scenario.training, scenario.world_size, 0})) {
      states += bytes;
    }
    const bool is_of_states =
        row.strategy.has_shards() && peak_bytes(row) - states < scenario.device.memory_bytes;
    std::vector<std::string> ways;
    if (is_of_states) {
      ways.emplace_back("more ranks");
    }
    if (is_of_states && !scenario.training.optimizer_on_host) {
      ways.emplace_back("training.optimizer_offload: CPU");
    }
    if (scenario.model.transformer.has_value()) {
      ways.emplace_back("rows shorter than " + format_count(scenario.model.transformer->sequence) +
                        " tokens (--sequence)");
    }
    if (row.figures.out_of_memory().category() == "communication_buckets") {
      ways.emplace_back("smaller buckets");
    }
    ways.emplace_back("devices with more memory");
    return "It may fit with one or several of these: " + listed(ways) + ".";
  }

  const Plan& plan_;
  int ranks_;
  const PlanRunOptions& options_;
};

}  // namespace

void recommend(Plan& plan, const PlanRunOptions& options) {
  for (const PlanRow& row : plan.rows) {
    const int ranks = plan.point_of(row).ranks;
    const bool is_done = std::any_of(
        plan.recommendations.begin(), plan.recommendations.end(),
        [&](const Recommendation& recommendation) { return recommendation.ranks == ranks; });
    if (!is_done) {
      plan.recommendations.push_back(Adviser(plan, ranks, options).advise());
    }
  }
}

}  // namespace shardscope
