#include "sim/sweep/row.h"

#include <json/json.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/data/digest.h"
#include "sim/report/answer.h"
#include "sim/report/json_report.h"
#include "sim/report/limits.h"
#include "sim/report/summary.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

constexpr std::string_view kRunKey = ",\"run\":";
constexpr std::string_view kSealKey = ",\"line_digest\":\"";

std::string compact(const Json::Value& value) {
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "";
  builder["precision"] = 17;
  builder["precisionType"] = "significant";
  return Json::writeString(builder, value);
}

Json::Value number(double value) {
  return std::isfinite(value) ? Json::Value(value) : Json::Value();
}

Json::Value axis_values(const Sweep& sweep, std::size_t point) {
  const std::vector<std::size_t> indices = sweep.coordinates(point);
  Json::Value values(Json::objectValue);
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    values[sweep.axes[a].field.path] = sweep.axes[a].values[indices[a]].text;
  }
  return values;
}

// The beginning of every line; the object is still open.
std::string beginning(const Sweep& sweep, std::size_t task, Outcome outcome,
                      const std::string& reason) {
  const std::size_t point = task / sweep.strategies.size();
  std::string line = "{\"point\":" + std::to_string(point) +
                     ",\"axes\":" + compact(axis_values(sweep, point)) +
                     ",\"strategy\":" + compact(sweep.strategies[task % sweep.strategies.size()]) +
                     ",\"outcome\":" + compact(std::string(name(outcome)));
  if (!reason.empty()) {
    line += ",\"reason\":" + compact(reason);
  }
  return line;
}

std::string digest_of(std::string_view text) {
  Fnv1a hash;
  hash.update(text.data(), text.size());
  return hash.hex();
}

// Closes a line with the digest of all before it.
std::string sealed(const std::string& line) {
  return line + std::string(kSealKey) + digest_of(line) + "\"}";
}

// What a line says beside its run, as an object; nothing if its digest is another.
std::optional<std::string> unsealed_beginning(std::string_view line) {
  const std::size_t seal = line.rfind(kSealKey);
  if (seal == std::string_view::npos ||
      line.substr(seal + kSealKey.size()) != digest_of(line.substr(0, seal)) + "\"}") {
    return std::nullopt;
  }
  // In a text the quotes of the key would be escaped.
  return std::string(line.substr(0, std::min(seal, line.find(kRunKey)))) + "}";
}

Json::Value figures_of(const RunResult& run) {
  const RunSummary summary = summarize(run);
  const LimitSummary limits = summarize_limits(run);
  Json::Value figures;
  figures["wall_s"] = number(summary.mean.wall_s);
  figures["forward_s"] = number(summary.mean.forward_s);
  figures["backward_s"] = number(summary.mean.backward_s);
  figures["optimizer_s"] = number(summary.mean.optimizer_s);
  figures["checkpoint_s"] = number(summary.mean.checkpoint_s);
  figures["exposed_communication_s"] = number(summary.mean.exposed_s);
  figures["busy_communication_s"] = number(summary.mean.busy_s);
  figures["peak_memory_bytes"] = Json::UInt64{summary.memory.peak_total};
  figures["sent_bytes"] = Json::UInt64{summary.wire.sent};
  figures["skipped_steps"] = Json::UInt64{summary.skipped_steps.size()};
  const LimitShare* largest = limits.largest();
  figures["limiting_factor"] = largest == nullptr ? "" : std::string(largest->name);
  const StepResult& last = *run.steps().rbegin();
  if (last.has_loss()) {
    figures["loss"] = number(last.loss());
  }
  return figures;
}

Outcome outcome_named(const std::string& text) {
  for (const Outcome outcome : {Outcome::completed, Outcome::out_of_memory, Outcome::failed}) {
    if (text == name(outcome)) {
      return outcome;
    }
  }
  return Outcome::missing;
}

double number_of(const Json::Value& value) {
  return value.isNumeric() ? value.asDouble() : std::numeric_limits<double>::quiet_NaN();
}

std::uint64_t bytes_of(const Json::Value& value) { return value.isUInt64() ? value.asUInt64() : 0; }

void read_figures(const Json::Value& figures, Row& row) {
  row.wall_s = number_of(figures["wall_s"]);
  row.forward_s = number_of(figures["forward_s"]);
  row.backward_s = number_of(figures["backward_s"]);
  row.optimizer_s = number_of(figures["optimizer_s"]);
  row.checkpoint_s = number_of(figures["checkpoint_s"]);
  row.exposed_communication_s = number_of(figures["exposed_communication_s"]);
  row.busy_communication_s = number_of(figures["busy_communication_s"]);
  row.peak_memory_bytes = bytes_of(figures["peak_memory_bytes"]);
  row.sent_bytes = bytes_of(figures["sent_bytes"]);
  row.skipped_steps = bytes_of(figures["skipped_steps"]);
  row.limiting_factor =
      figures["limiting_factor"].isString() ? figures["limiting_factor"].asString() : std::string();
  if (figures.isMember("loss")) {
    row.loss = number_of(figures["loss"]);
  }
}

std::optional<Json::Value> parse(std::string_view line) {
  Json::CharReaderBuilder builder;
  Json::CharReaderBuilder::strictMode(&builder.settings_);
  const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
  Json::Value value;
  std::string errors;
  try {
    if (!reader->parse(line.data(), line.data() + line.size(), &value, &errors) ||
        !value.isObject()) {
      return std::nullopt;
    }
  } catch (const Json::Exception&) {  // Nested too deeply.
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::missing:
      return "missing";
    case Outcome::completed:
      return "completed";
    case Outcome::out_of_memory:
      return "out_of_memory";
    case Outcome::failed:
      return "failed";
  }
  return "";
}

std::string result_line(const Sweep& sweep, std::size_t task, const Scenario& scenario,
                        const RunResult& run) {
  const Outcome outcome = outcome_named(run.outcome());
  std::string line =
      beginning(sweep, task, outcome, outcome == Outcome::completed ? "" : mishap(scenario, run));
  line += ",\"digest\":" + compact(scenario.digest) +
          ",\"capacity_bytes\":" + std::to_string(scenario.device.memory_bytes);
  if (outcome == Outcome::completed) {
    line += ",\"figures\":" + compact(figures_of(run));
  }
  return sealed(line + std::string(kRunKey) + json_run(run));
}

std::string failure_line(const Sweep& sweep, std::size_t task, const std::string& reason) {
  return sealed(beginning(sweep, task, Outcome::failed, reason));
}

std::optional<ReadLine> read_line(const Sweep& sweep, std::string_view line, std::string& problem) {
  const std::optional<std::string> beginning = unsealed_beginning(line);
  const std::optional<Json::Value> value = beginning ? parse(*beginning) : std::nullopt;
  if (!value.has_value()) {
    problem = "is damaged: its digest is not that of the line";
    return std::nullopt;
  }
  const Json::Value& point = (*value)["point"];
  const Json::Value& strategy = (*value)["strategy"];
  const auto known = std::find(sweep.strategies.begin(), sweep.strategies.end(),
                               strategy.isString() ? strategy.asString() : std::string());
  if (!point.isUInt64() || point.asUInt64() >= sweep.point_count() ||
      known == sweep.strategies.end() ||
      (*value)["axes"] != axis_values(sweep, static_cast<std::size_t>(point.asUInt64()))) {
    problem = "is no point of this sweep";
    return std::nullopt;
  }
  ReadLine read;
  read.task = static_cast<std::size_t>(point.asUInt64()) * sweep.strategies.size() +
              static_cast<std::size_t>(known - sweep.strategies.begin());
  const Json::Value& outcome = (*value)["outcome"];
  read.row.outcome = outcome_named(outcome.isString() ? outcome.asString() : std::string());
  const Json::Value& figures = (*value)["figures"];
  const bool complete = read.row.outcome == Outcome::completed;
  if (read.row.outcome == Outcome::missing || complete != figures.isObject()) {
    problem = "has no result";
    return std::nullopt;
  }
  read.row.reason = (*value)["reason"].isString() ? (*value)["reason"].asString() : std::string();
  read.row.capacity_bytes = bytes_of((*value)["capacity_bytes"]);
  if (complete) {
    read_figures(figures, read.row);
  }
  return read;
}

}  // namespace shardscope
