#include "sim/sweep/data.h"

#include <json/json.h>

#include <cmath>

#include "sim/sweep/identity.h"

namespace shardscope {
namespace {

Json::Value number(double value) {
  return std::isfinite(value) ? Json::Value(value) : Json::Value();
}

// What stands for a value on its axis: a number, or the text of a category.
Json::Value place_of(const Axis& axis, std::size_t index) {
  const AxisValue& value = axis.values[index];
  return axis.is_numeric() ? number(value.number) : Json::Value(value.text);
}

Json::Value finding_value(const Sweep& sweep, const Finding& finding) {
  Json::Value value;
  value["kind"] = std::string(name(finding.kind));
  value["text"] = sentence(sweep, finding);
  value["strategies"] = Json::Value(Json::arrayValue);
  for (const std::size_t strategy : finding.strategies) {
    value["strategies"].append(sweep.strategies[strategy]);
  }
  value["fixed"] = Json::Value(Json::objectValue);
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    if (finding.fixed[a].has_value()) {
      value["fixed"][sweep.axes[a].field.path] = sweep.axes[a].values[*finding.fixed[a]].text;
    }
  }
  if (finding.axis.has_value()) {
    const Axis& axis = sweep.axes[*finding.axis];
    value["axis"] = Json::UInt64{*finding.axis};
    value["between"].append(place_of(axis, finding.low));
    value["between"].append(place_of(axis, finding.high));
    if (axis.is_numeric()) {
      value["at"] = number(finding.at);
    }
  }
  if (finding.kind == FindingKind::overtakes) {
    value["leads"] = finding.leads;
  }
  if (finding.kind == FindingKind::communication_exceeds_compute) {
    value["above"] = finding.above;
  }
  return value;
}

Json::Value findings_array(const Sweep& sweep, const std::vector<Finding>& findings) {
  Json::Value array(Json::arrayValue);
  for (const Finding& finding : findings) {
    array.append(finding_value(sweep, finding));
  }
  return array;
}

const char* unit_of_axis(const Axis& axis) {
  if (axis.field.kind != FieldKind::quantity) {
    return "";
  }
  switch (axis.field.dimension) {
    case Dimension::size:
      return "B";
    case Dimension::rate:
      return "B/s";
    case Dimension::time:
      return "s";
    case Dimension::speed:
      return "flop/s";
  }
  return "";
}

Json::Value axis_value(const Axis& axis) {
  Json::Value value;
  value["field"] = axis.field.path;
  value["unit"] = unit_of_axis(axis);
  value["scale"] = std::string(name(axis.scale));
  for (std::size_t i = 0; i < axis.values.size(); ++i) {
    value["values"].append(place_of(axis, i));
    value["labels"].append(axis.values[i].text);
  }
  return value;
}

Json::Value columns() {
  struct Column {
    const char* name;
    const char* label;
    const char* unit;
  };
  constexpr Column kColumns[] = {{"wall_s", "step time", "s"},
                                 {"forward_s", "forward", "s"},
                                 {"backward_s", "backward", "s"},
                                 {"optimizer_s", "optimizer", "s"},
                                 {"checkpoint_s", "saving a checkpoint", "s"},
                                 {"exposed_communication_s", "exposed communication", "s"},
                                 {"busy_communication_s", "busy communication", "s"},
                                 {"peak_memory_bytes", "peak memory of the fullest rank", "B"},
                                 {"capacity_bytes", "memory of a device", "B"},
                                 {"sent_bytes", "bytes sent in a step", "B"},
                                 {"skipped_steps", "skipped steps", ""},
                                 {"loss", "loss of the last step", ""}};
  Json::Value array(Json::arrayValue);
  for (const Column& column : kColumns) {
    Json::Value value;
    value["name"] = column.name;
    value["label"] = column.label;
    value["unit"] = column.unit;
    array.append(value);
  }
  return array;
}

Json::Value point_value(const Grid& grid, std::size_t point, std::size_t strategy) {
  const Row& row = grid.row(point, strategy);
  Json::Value value;
  value["index"] = Json::UInt64{point};
  for (const std::size_t index : grid.sweep().coordinates(point)) {
    value["axis"].append(Json::UInt64{index});
  }
  value["strategy"] = grid.sweep().strategies[strategy];
  value["outcome"] = std::string(name(row.outcome));
  if (!row.reason.empty()) {
    value["failure"] = row.reason;
  }
  if (row.capacity_bytes > 0) {
    value["capacity_bytes"] = Json::UInt64{row.capacity_bytes};
  }
  if (row.outcome != Outcome::completed) {
    return value;
  }
  value["wall_s"] = number(row.wall_s);
  value["forward_s"] = number(row.forward_s);
  value["backward_s"] = number(row.backward_s);
  value["optimizer_s"] = number(row.optimizer_s);
  value["checkpoint_s"] = number(row.checkpoint_s);
  value["exposed_communication_s"] = number(row.exposed_communication_s);
  value["busy_communication_s"] = number(row.busy_communication_s);
  value["peak_memory_bytes"] = Json::UInt64{row.peak_memory_bytes};
  value["sent_bytes"] = Json::UInt64{row.sent_bytes};
  value["skipped_steps"] = Json::UInt64{row.skipped_steps};
  value["loss"] = row.loss.has_value() ? number(*row.loss) : Json::Value();
  return value;
}

}  // namespace

std::string findings_json(const Sweep& sweep, const std::vector<Finding>& findings) {
  Json::Value value;
  value["sweep"] = sweep_digest(sweep);
  value["findings"] = findings_array(sweep, findings);
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "  ";
  builder["precision"] = 17;
  builder["precisionType"] = "significant";
  return Json::writeString(builder, value) + "\n";
}

Json::Value page_data(const Grid& grid, const std::vector<Finding>& findings) {
  const Sweep& sweep = grid.sweep();
  Json::Value data;
  data["kind"] = "sweep";
  data["title"] = sweep.name;
  data["shardscope"] = sweep.version;
  Json::Value& value = data["sweep"];
  value["arithmetic"] = sweep.arithmetic;
  value["axes"] = Json::Value(Json::arrayValue);
  for (const Axis& axis : sweep.axes) {
    value["axes"].append(axis_value(axis));
  }
  value["columns"] = columns();
  value["points"] = Json::Value(Json::arrayValue);
  for (std::size_t point = 0; point < sweep.point_count(); ++point) {
    for (std::size_t s = 0; s < sweep.strategies.size(); ++s) {
      if (grid.row(point, s).outcome != Outcome::missing) {
        value["points"].append(point_value(grid, point, s));
      }
    }
  }
  value["findings"] = findings_array(sweep, findings);
  return data;
}

}  // namespace shardscope
