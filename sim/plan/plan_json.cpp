#include "sim/plan/plan_json.h"

#include <json/json.h>

#include <algorithm>

#include "sim/report/cluster_text.h"
#include "sim/report/model_text.h"
#include "sim/topology_files/simgrid_settings.h"

namespace shardscope {
namespace {

Json::Value integer(std::uint64_t value) { return Json::UInt64{value}; }

bool is_recommended(const Plan& plan, const PlanRow& row) {
  const auto index = static_cast<std::size_t>(&row - plan.rows.data());
  return std::any_of(plan.recommendations.begin(), plan.recommendations.end(),
                     [&](const Recommendation& choice) { return choice.row == index; });
}

void add_misfit(const PlanPoint& point, const PlanRow& row, Json::Value& value) {
  if (row.figures.outcome() != "out_of_memory") {
    value["failure"] = row.figures.failure();
    return;
  }
  const std::uint64_t memory = point.scenario.device.memory_bytes;
  value["lacking_bytes"] = integer(std::max(peak_bytes(row), memory) - memory);
  value["category"] = row.figures.out_of_memory().category();
  value["phase"] = row.figures.out_of_memory().phase();
}

Json::Value row_value(const Plan& plan, const PlanRow& row) {
  const PlanPoint& point = plan.point_of(row);
  Json::Value value;
  value["strategy"] = std::string(row.strategy.name);
  value["ranks"] = point.ranks;
  value["micro_batch"] = integer(point.micro_batch);
  value["accumulation"] = integer(point.accumulation);
  value["simulated_micro_steps"] = Json::Int64{row.figures.simulated_micro_steps()};
  value["recompute"] = point.recompute;
  value["fits"] = row.completed();
  value["outcome"] = row.figures.outcome();
  value["parameters"] = integer(point.scenario.model.parameters());
  value["peak_bytes"] = integer(peak_bytes(row));
  value["device_memory_bytes"] = integer(point.scenario.device.memory_bytes);
  value["recommended"] = is_recommended(plan, row);
  if (!plan.config_file.empty()) {
    value["configured"] = is_of_config(plan, row);
  }
  if (point.scenario.training.optimizer_on_host) {
    value["host_bytes"] = integer(row.figures.host_bytes());
  }
  for (const char* name :
       {"step_s", "forward_s", "backward_s", "optimizer_s", "exposed_communication_s",
        "busy_communication_s", "tokens_per_s", "model_flops_utilization",
        "sent_inside_nodes_bytes", "sent_between_nodes_bytes"}) {
    value[name] = Json::Value();
  }
  if (!row.completed()) {
    add_misfit(point, row, value);
    return value;
  }
  const TimeSplit& time = row.figures.time();
  value["step_s"] = time.wall_s();
  value["forward_s"] = time.forward_s();
  value["backward_s"] = time.backward_s();
  value["optimizer_s"] = time.optimizer_s();
  value["exposed_communication_s"] = time.exposed_communication_s();
  value["busy_communication_s"] = time.busy_communication_s();
  value["tokens_per_s"] = tokens_per_s(plan, row);
  value["model_flops_utilization"] = model_flops_utilization(plan, row);
  value["sent_inside_nodes_bytes"] =
      integer(sent_bytes(plan, row) - sent_between_nodes_bytes(plan, row));
  value["sent_between_nodes_bytes"] = integer(sent_between_nodes_bytes(plan, row));
  return value;
}

const char* origin_name(Origin origin) {
  switch (origin) {
    case Origin::given:
      return "given";
    case Origin::by_default:
      return "default";
    case Origin::resolved:
      return "auto";
    case Origin::derived:
      return "derived";
  }
  return "";
}

const char* effect_name(Effect effect) {
  switch (effect) {
    case Effect::modelled:
      return "modelled";
    case Effect::none:
      return "none";
    case Effect::not_modelled:
      return "not_modelled";
    case Effect::unknown:
      return "unknown";
  }
  return "";
}

Json::Value understood_value(const Plan& plan) {
  Json::Value value;
  value["file"] = plan.config_file;
  for (const ConfigItem& item : plan.understood) {
    Json::Value key;
    key["key"] = item.key;
    key["value"] = item.value;
    key["origin"] = origin_name(item.origin);
    key["effect"] = effect_name(item.effect);
    key["meaning"] = item.meaning;
    value["keys"].append(key);
  }
  return value;
}

Json::Value assumptions_value(const Plan& plan) {
  const Scenario& scenario = plan.points.back().scenario;
  Json::Value value;
  value["ranks"] = plan.points.back().ranks;
  value["model"] = model_text(scenario.model, "");
  for (const std::string& note : scenario.model_notes) {
    value["model_notes"].append(note);
  }
  value["network"] = network_text(scenario.cluster);
  if (scenario.cluster.file.has_value()) {
    value["file"]["path"] = scenario.cluster.file->path;
    for (const std::string& text : scenario.cluster.file->understood) {
      value["file"]["understood"].append(text);
    }
    for (const std::string& text : scenario.cluster.file->left_aside) {
      value["file"]["left_aside"].append(text);
    }
  }
  for (const auto& [setting, chosen] : simgrid_settings()) {
    value["simgrid"][setting] = chosen;
  }
  value["fidelity"] = std::string(name(scenario.cluster.collective.fidelity));
  value["precision"] = std::string(name(scenario.training.precision));
  value["device"]["preset"] = scenario.device.preset;
  value["device"]["peak_flops_per_s"] = scenario.device.peak_flops_per_s;
  value["device"]["compute_efficiency"] = scenario.device.compute_efficiency;
  value["device"]["memory_bandwidth_bytes_per_s"] = scenario.device.memory_bandwidth_bytes_per_s;
  value["device"]["memory_efficiency"] = scenario.device.memory_efficiency;
  if (scenario.training.optimizer_on_host) {
    value["host"]["link_bytes_per_s"] = scenario.host.link_bytes_per_s;
    value["host"]["adam_parameters_per_s"] = scenario.host.adam_parameters_per_s;
  }
  for (const std::string& reason : plan.left_out) {
    value["left_out"].append(reason);
  }
  return value;
}

}  // namespace

Json::Value plan_value(const Plan& plan, const std::string& version) {
  Json::Value root;
  root["shardscope"] = version;
  root["recommendations"] = Json::Value(Json::arrayValue);
  for (const Recommendation& choice : plan.recommendations) {
    Json::Value value;
    value["ranks"] = choice.ranks;
    value["plan"] = choice.row < plan.rows.size() ? integer(choice.row) : Json::Value();
    for (const std::string& reason : choice.reasons) {
      value["reasons"].append(reason);
    }
    root["recommendations"].append(value);
  }
  root["plans"] = Json::Value(Json::arrayValue);
  for (const PlanRow& row : plan.rows) {
    root["plans"].append(row_value(plan, row));
  }
  if (!plan.config_file.empty()) {
    root["understood"] = understood_value(plan);
  }
  root["assumptions"] = assumptions_value(plan);
  return root;
}

std::string plan_json(const Plan& plan, const std::string& version) {
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "  ";
  builder["precision"] = 17;
  return Json::writeString(builder, plan_value(plan, version)) + "\n";
}

}  // namespace shardscope
