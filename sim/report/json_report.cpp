#include "sim/report/json_report.h"

#include <json/json.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/tensor/ledger.h"
#include "sim/critical_path/critical_path.h"
#include "sim/report/cluster_text.h"
#include "sim/report/limits.h"
#include "sim/report/model_text.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"

namespace shardscope {
namespace {

enum class Layout { indented, one_line };

/// Writes the outer structure piece by piece, so that a report of many ranks never exists as a tree
/// of values; what it puts on one line is made by JsonCpp.
class JsonWriter {
 public:
  explicit JsonWriter(Layout layout) : layout_(layout) {
    Json::StreamWriterBuilder builder;
    builder["indentation"] = "";
    builder["precision"] = 17;
    builder["precisionType"] = "significant";
    writer_.reset(builder.newStreamWriter());
  }

  void begin_object() { begin('{'); }
  void begin_object(std::string_view key) { begin_member(key, '{'); }
  void begin_array(std::string_view key) { begin_member(key, '['); }
  void end_object() { end('}'); }
  void end_array() { end(']'); }

  void member(std::string_view key, const Json::Value& value) {
    next_line(key);
    writer_->write(value, &out_);
  }

  void element(const Json::Value& value) {
    next_line();
    writer_->write(value, &out_);
  }

  std::string text() { return std::move(out_).str(); }

 private:
  void next_line() {
    if (depth_ > 0) {
      out_ << (first_ ? "" : ",");
      line_break();
    }
    first_ = false;
  }

  void next_line(std::string_view key) {
    next_line();
    out_ << '"' << key << (layout_ == Layout::indented ? "\": " : "\":");
  }

  void line_break() {
    if (layout_ == Layout::indented) {
      out_ << '\n' << std::string(2 * depth_, ' ');
    }
  }

  void begin(char bracket) {
    next_line();
    open(bracket);
  }

  void begin_member(std::string_view key, char bracket) {
    next_line(key);
    open(bracket);
  }

  void open(char bracket) {
    out_ << bracket;
    ++depth_;
    first_ = true;
  }

  void end(char bracket) {
    --depth_;
    if (!first_) {
      line_break();
    }
    out_ << bracket;
    first_ = false;
  }

  Layout layout_;
  std::unique_ptr<Json::StreamWriter> writer_;
  std::ostringstream out_;
  std::size_t depth_ = 0;
  bool first_ = true;
};

Json::Value integer(std::uint64_t value) { return Json::UInt64{value}; }

/// JsonCpp writes infinity as 1e+9999, which some readers refuse.
Json::Value number(double value) {
  return std::isfinite(value) ? Json::Value(value) : Json::Value();
}

Json::Value text(std::string_view value) { return std::string(value); }

Json::Value time_value(const TimeSplit& time) {
  Json::Value value;
  value["wall_s"] = number(time.wall_s());
  value["forward_s"] = number(time.forward_s());
  value["backward_s"] = number(time.backward_s());
  value["optimizer_s"] = number(time.optimizer_s());
  value["checkpoint_s"] = number(time.checkpoint_s());
  value["exposed_communication_s"] = number(time.exposed_communication_s());
  value["busy_communication_s"] = number(time.busy_communication_s());
  // Never below 0, though a difference of two equal times may be.
  value["overlapped_communication_s"] =
      number(std::max(time.busy_communication_s() - time.exposed_communication_s(), 0.0));
  value["exposed_forward_s"] = number(time.exposed_forward_s());
  value["exposed_backward_s"] = number(time.exposed_backward_s());
  value["exposed_optimizer_s"] = number(time.exposed_optimizer_s());
  return value;
}

/// The first `count` categories.
Json::Value memory_value(const MemoryByCategory& memory, std::size_t count) {
  Json::Value value(Json::objectValue);
  for (std::size_t i = 0; i < count; ++i) {
    const bool given = i < static_cast<std::size_t>(memory.bytes_size());
    value[std::string(kCategoryNames[i])] = integer(given ? memory.bytes(static_cast<int>(i)) : 0);
  }
  return value;
}

Json::Value rank_memory_value(const RankResult& rank) {
  Json::Value value;
  value["peak_bytes"] = memory_value(rank.peak(), kCategoryCount);
  value["peak_bytes"]["total"] = integer(rank.peak().total());
  value["state_bytes"] = memory_value(rank.state(), kStateCategoryCount);
  value["predicted_state_bytes"] = memory_value(rank.predicted_state(), kStateCategoryCount);
  value["predicted_peak_bytes"] = integer(rank.predicted_peak_bytes());
  if (rank.has_host_peak_bytes()) {
    value["host_peak_bytes"] = integer(rank.host_peak_bytes());
    value["predicted_host_bytes"] = integer(rank.predicted_host_bytes());
  }
  return value;
}

Json::Value step_value(const StepResult& step) {
  Json::Value value;
  value["step"] = Json::Int64{step.step()};
  if (step.has_loss()) {
    value["loss"] = number(step.loss());
  }
  if (step.has_grad_norm()) {
    value["grad_norm"] = number(step.grad_norm());
  }
  value["loss_scale"] = number(step.loss_scale());
  value["skipped"] = step.skipped();
  value["time"] = time_value(step.time());
  value["time"]["last_rank"] = step.last_rank();
  return value;
}

Json::Value rank_step_value(const RankStep& step) {
  Json::Value value;
  value["time"] = time_value(step.time());
  value["sent_bytes"] = integer(step.sent_bytes());
  value["received_bytes"] = integer(step.received_bytes());
  value["predicted_sent_bytes"] = integer(step.predicted_sent_bytes());
  value["control_sent_bytes"] = integer(step.control_sent_bytes());
  return value;
}

Json::Value out_of_memory_value(const OutOfMemoryResult& result) {
  Json::Value value;
  value["rank"] = result.rank();
  value["step"] = Json::Int64{result.step()};
  value["phase"] = result.phase();
  value["layer"] = result.layer();
  value["category"] = result.category();
  value["wanted_bytes"] = integer(result.wanted_bytes());
  value["free_bytes"] = integer(result.free_bytes());
  return value;
}

Json::Value texts(const std::vector<std::string>& all) {
  Json::Value value(Json::arrayValue);
  for (const std::string& one : all) {
    value.append(one);
  }
  return value;
}

Json::Value network_value(const Cluster& cluster) {
  Json::Value value;
  value["description"] = network_text(cluster);
  value["nodes"] = integer(cluster.spec.nodes);
  value["devices_per_node"] = integer(cluster.devices_per_node);
  if (cluster.spec.fabric.has_value()) {
    const FabricSpec& fabric = *cluster.spec.fabric;
    value["fabric"] = text(name(fabric.kind));
    value["link_bandwidth_bytes_per_s"] = number(fabric.cable.bandwidth_bytes_per_s);
    value["link_latency_s"] = number(fabric.cable.latency_s);
  }
  for (const std::size_t device : cluster.placement) {
    value["device_of_rank"].append(integer(device));
  }
  if (const std::string uneven = unevenness_text(cluster); !uneven.empty()) {
    value["uneven"] = uneven;
  }
  if (cluster.file.has_value()) {
    value["file"] = cluster.file->path;
    value["file_kind"] = cluster.file->kind;
    value["understood"] = texts(cluster.file->understood);
    value["left_aside"] = texts(cluster.file->left_aside);
  }
  value["sharing"] = "max-min fair";
  value["protocol_overhead"] = "none";
  return value;
}

Json::Value device_value(const DeviceSpec& device) {
  Json::Value value;
  value["preset"] = device.preset;
  value["memory_bytes"] = integer(device.memory_bytes);
  value["peak_flops_per_s"] = number(device.peak_flops_per_s);
  value["memory_bandwidth_bytes_per_s"] = number(device.memory_bandwidth_bytes_per_s);
  value["compute_efficiency"] = number(device.compute_efficiency);
  value["memory_efficiency"] = number(device.memory_efficiency);
  value["launch_overhead_s"] = number(device.launch_overhead_s);
  return value;
}

Json::Value checkpoint_value(const Scenario& scenario) {
  Json::Value value;
  value["every_steps"] = Json::Int64{scenario.checkpoint->every_steps};
  value["bytes_per_parameter"] = 12;  // Weight and two moments.
  value["storage_bandwidth_bytes_per_s"] = number(scenario.checkpoint->bandwidth_bytes_per_s);
  value["written"] = scenario.training.storage == Storage::real;
  return value;
}

void write_assumptions(JsonWriter& json, const Scenario& scenario, const ReportContext& context) {
  Json::Value settings(Json::objectValue);
  for (const auto& [name, value] : context.simgrid_settings) {
    settings[name] = value;
  }
  const TrainingOptions& training = scenario.training;
  json.begin_object("assumptions");
  json.member("model", text(model_text(scenario.model, "")));
  if (!scenario.model_notes.empty()) {
    json.member("model_notes", texts(scenario.model_notes));
  }
  json.member("network", network_value(scenario.cluster));
  json.member("simgrid", settings);
  json.member("device", device_value(scenario.device));
  json.member("compute_time",
              "max(flops / (peak_flops x compute_efficiency), bytes / (memory_bandwidth x "
              "memory_efficiency)) + launch_overhead");
  const CollectiveSpec& collective = scenario.cluster.collective;
  json.member("algorithm",
              text(collective.algorithm.has_value() ? name(*collective.algorithm) : "AUTO"));
  json.member("channels", collective.channels);
  json.member("fidelity", text(name(collective.fidelity)));
  json.member("arithmetic", training.storage == Storage::real ? "REAL" : "NONE");
  json.member("precision", text(name(training.precision)));
  json.member("reduce_precision", text(name(training.reduce_precision)));
  json.member("accumulate_precision", text(name(training.accumulate_precision())));
  json.member("micro_batches", integer(training.micro_batches));
  json.member("dynamic_loss_scale", training.dynamic_loss_scale.has_value());
  json.member("clip_norm", number(training.clip_norm));
  json.member("activation_checkpointing", integer(training.activation_checkpointing));
  if (scenario.training.optimizer_on_host) {
    Json::Value host;
    host["link_bytes_per_s"] = number(scenario.host.link_bytes_per_s);
    host["adam_parameters_per_s"] = number(scenario.host.adam_parameters_per_s);
    json.member("host", host);
  }
  if (scenario.checkpoint.has_value()) {
    json.member("checkpoint", checkpoint_value(scenario));
  }
  json.end_object();
}

void write_limiting_factor(JsonWriter& json, const RunResult& run) {
  const LimitSummary limits = summarize_limits(run);
  if (limits.largest() == nullptr) {
    return;
  }
  Json::Value value;
  value["name"] = text(limits.largest()->name);
  for (const LimitShare& share : limits.shares) {
    value["shares"][std::string(share.name)] = number(share.share);
  }
  json.member("limiting_factor", value);
}

Json::Value shares_value(const CriticalPath& path, const std::vector<PathShare>& shares,
                         const char* unnamed) {
  Json::Value value(Json::objectValue);
  for (const PathShare& share : shares) {
    value[share.name.empty() ? unnamed : share.name] = number(share.seconds / path.length_s);
  }
  return value;
}

void write_critical_path(JsonWriter& json, const RunResult& run) {
  const std::optional<CriticalPath> path = critical_path(run);
  if (!path.has_value()) {
    return;
  }
  Json::Value value;
  value["step"] = Json::Int64{path->step};
  value["rank"] = path->rank;
  value["length_s"] = number(path->length_s);
  value["phases"] = shares_value(*path, path->phases, "");
  value["layers"] = shares_value(*path, path->layers, "none");
  value["links"] = shares_value(*path, path->links, "none");
  for (const WhatIf& what_if : path->what_ifs) {
    value["what_if"][what_if.name + "_s"] = number(what_if.wall_s);
  }
  json.member("critical_path", value);
}

// As a scenario gives them: numbers and truth values as such.
Json::Value options_value(const RunResult& run) {
  Json::Value value(Json::objectValue);
  for (const StrategyOption& option : run.options()) {
    const std::string& text = option.value();
    if (text == "true" || text == "false") {
      value[option.name()] = text == "true";
    } else if (text.find_first_not_of("0123456789") == std::string::npos) {
      value[option.name()] = integer(std::stoull(text));
    } else {
      value[option.name()] = text;
    }
  }
  return value;
}

void write_rank(JsonWriter& json, const RankResult& rank) {
  json.begin_object();
  json.member("rank", rank.rank());
  json.member("memory", rank_memory_value(rank));
  json.begin_array("steps");
  for (const RankStep& step : rank.steps()) {
    json.element(rank_step_value(step));
  }
  json.end_array();
  json.end_object();
}

// What AUTO chose.
void write_choices(JsonWriter& json, const RunResult& run) {
  if (run.chosen_algorithms().empty()) {
    return;
  }
  json.begin_array("chosen_algorithms");
  for (const ChosenAlgorithm& choice : run.chosen_algorithms()) {
    Json::Value value;
    value["operation"] = choice.operation();
    value["ranks"] = choice.ranks();
    value["bytes"] = integer(choice.bytes());
    value["algorithm"] = choice.algorithm();
    value["estimated_s"] = number(choice.estimated_s());
    json.element(value);
  }
  json.end_array();
}

// The busiest ones.
void write_links(JsonWriter& json, const RunResult& run) {
  constexpr int kMost = 100;
  if (run.links().empty()) {
    return;
  }
  json.begin_array("links");
  for (int i = 0; i < std::min(run.links_size(), kMost); ++i) {
    const LinkUse& link = run.links(i);
    Json::Value value;
    value["name"] = link.name();
    value["bandwidth_bytes_per_s"] = number(link.bandwidth_bytes_per_s());
    value["training_bytes"] = integer(link.training_bytes());
    value["background_bytes"] = integer(link.background_bytes());
    value["utilization"] = number(link.busy_s() / run.limits().wall_s());
    json.element(value);
  }
  json.end_array();
}

void write_run(JsonWriter& json, const RunResult& run, bool with_critical_path) {
  json.begin_object();
  json.member("strategy", run.strategy());
  json.member("world_size", run.world_size());
  json.member("parameters", integer(run.parameters()));
  json.member("options", options_value(run));
  json.member("outcome", run.outcome());
  if (run.has_resumed_from()) {
    json.member("resumed_from", run.resumed_from());
  }
  if (run.has_weights_digest()) {
    json.member("weights_digest", run.weights_digest());
  }
  if (run.has_out_of_memory()) {
    json.member("out_of_memory", out_of_memory_value(run.out_of_memory()));
  }
  if (run.has_failure()) {
    json.member("failure", run.failure());
  }
  write_limiting_factor(json, run);
  if (with_critical_path) {
    write_critical_path(json, run);
  }
  json.begin_array("steps");
  for (const StepResult& step : run.steps()) {
    json.element(step_value(step));
  }
  json.end_array();
  json.begin_array("ranks");
  for (const RankResult& rank : run.ranks()) {
    write_rank(json, rank);
  }
  json.end_array();
  write_links(json, run);
  write_choices(json, run);
  json.end_object();
}

}  // namespace

std::string json_report(const Scenario& scenario, const std::vector<RunResult>& runs,
                        const ReportContext& context) {
  JsonWriter json(Layout::indented);
  json.begin_object();
  json.member("shardscope", context.version);
  json.member("scenario", scenario.name);
  json.member("digest", scenario.digest);
  write_assumptions(json, scenario, context);
  json.begin_array("runs");
  for (const RunResult& run : runs) {
    write_run(json, run, context.critical_path);
  }
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

std::string json_run(const RunResult& run) {
  JsonWriter json(Layout::one_line);
  write_run(json, run, /*with_critical_path=*/false);
  return json.text();
}

}  // namespace shardscope
