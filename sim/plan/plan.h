// A plan: what every candidate - a number of ranks, a strategy, a micro-batch, with or without
// recomputation - takes and gives, and which is recommended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/training/strategy.h"
#include "sim/frameworks/framework_config.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// Candidates that differ in their strategy alone: those of the scenario.
struct PlanPoint {
  int ranks = 1;
  std::size_t micro_batch = 1;   ///< Rows of a rank's micro-step.
  std::size_t accumulation = 1;  ///< Micro-steps of an optimizer step.
  bool recompute = false;        ///< Every block's activations are computed again in backward.
  Scenario scenario;
};

/// A candidate and what was simulated of it.
struct PlanRow {
  std::size_t point = 0;  ///< Index in Plan::points.
  Strategy strategy;
  PlanFigures figures;

  bool completed() const { return figures.outcome() == "completed"; }
  double step_s() const { return figures.time().wall_s(); }
};

/// A row and why it is the one for its ranks.
struct Recommendation {
  int ranks = 0;
  std::size_t row = 0;               ///< Index in Plan::rows; the row count if none fits.
  std::vector<std::string> reasons;  ///< Sentences; what would change it is the last.
};

struct Plan {
  std::vector<PlanPoint> points;
  std::vector<PlanRow> rows;  ///< By ranks; those that fit first, the fastest first.
  std::vector<Recommendation> recommendations;  ///< By ranks.
  std::vector<ConfigItem> understood;  ///< Of the framework's configuration, if there is one.
  std::string config_file;
  std::string config_strategy;                    ///< The one that it asks for.
  std::optional<std::size_t> config_micro_batch;  ///< If it says one.
  std::optional<int> config_ranks;                ///< The same of them.
  bool config_recomputes = false;
  std::vector<std::string> left_out;  ///< Combinations that cannot be, and why.

  const PlanPoint& point_of(const PlanRow& row) const { return points[row.point]; }
};

/// Whether it is what the framework's configuration asks for, where it leaves the micro-batch open
/// with any.
bool is_of_config(const Plan& plan, const PlanRow& row);

/// What a row of the training is counted in: "tokens", or "rows" of a perceptron.
std::string unit_of_rows(const Plan& plan);

/// Tokens of a transformer's optimizer step over all ranks, rows of a perceptron's; per second.
double tokens_per_s(const Plan& plan, const PlanRow& row);

/// Floating-point operations of forward and backward, nothing computed twice, over what all devices
/// could do in the step at their peak.
double model_flops_utilization(const Plan& plan, const PlanRow& row);

/// Sent by a rank in a step, the mean of all.
std::uint64_t sent_bytes(const Plan& plan, const PlanRow& row);
std::uint64_t sent_between_nodes_bytes(const Plan& plan, const PlanRow& row);

/// The closed form of the fullest rank's peak, where the run went to its end the measured one.
std::uint64_t peak_bytes(const PlanRow& row);

}  // namespace shardscope
