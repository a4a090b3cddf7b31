#include "sim/plan/plan.h"

namespace shardscope {
namespace {

double rows_of(const PlanPoint& point) {
  return static_cast<double>(point.scenario.training.global_batch);
}

// A perceptron's products: 2 flops for each weight and row in forward, 4 in backward.
double flops_of_step(const PlanPoint& point) {
  const ModelSpec& model = point.scenario.model;
  if (model.transformer.has_value()) {
    return model_flops(*model.transformer, point.scenario.training.global_batch);
  }
  double weights = 0;
  for (std::size_t l = 0; l < model.layer_count(); ++l) {
    weights += static_cast<double>(model.layer(l).weight_elements());
  }
  return 6 * weights * rows_of(point);
}

}  // namespace

bool is_of_config(const Plan& plan, const PlanRow& row) {
  const PlanPoint& point = plan.point_of(row);
  return row.strategy.name == plan.config_strategy && point.recompute == plan.config_recomputes &&
         plan.config_ranks.value_or(point.ranks) == point.ranks &&
         plan.config_micro_batch.value_or(point.micro_batch) == point.micro_batch;
}

std::string unit_of_rows(const Plan& plan) {
  return plan.points.front().scenario.model.transformer.has_value() ? "tokens" : "rows";
}

double tokens_per_s(const Plan& plan, const PlanRow& row) {
  const PlanPoint& point = plan.point_of(row);
  const ModelSpec& model = point.scenario.model;
  const double per_row =
      model.transformer.has_value() ? static_cast<double>(model.transformer->sequence) : 1.0;
  return rows_of(point) * per_row / row.step_s();
}

double model_flops_utilization(const Plan& plan, const PlanRow& row) {
  const PlanPoint& point = plan.point_of(row);
  return flops_of_step(point) /
         (row.step_s() * point.ranks * point.scenario.device.peak_flops_per_s);
}

std::uint64_t sent_bytes(const Plan& plan, const PlanRow& row) {
  return row.figures.sent_bytes() / static_cast<std::uint64_t>(plan.point_of(row).ranks);
}

std::uint64_t sent_between_nodes_bytes(const Plan& plan, const PlanRow& row) {
  return row.figures.sent_between_nodes_bytes() /
         static_cast<std::uint64_t>(plan.point_of(row).ranks);
}

std::uint64_t peak_bytes(const PlanRow& row) {
  return row.completed() ? row.figures.peak_bytes() : row.figures.predicted_peak_bytes();
}

}  // namespace shardscope
