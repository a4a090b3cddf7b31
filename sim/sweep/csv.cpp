#include "sim/sweep/csv.h"

#include <cmath>
#include <string_view>
#include <vector>

#include "sim/sweep/range.h"

namespace shardscope {
namespace {

constexpr const char* kLineEnd = "\r\n";

std::string_view unit_suffix(Dimension dimension) {
  switch (dimension) {
    case Dimension::size:
      return "_bytes";
    case Dimension::rate:
      return "_bytes_per_s";
    case Dimension::time:
      return "_s";
    case Dimension::speed:
      return "_flop_per_s";
  }
  return "";
}

std::string number(double value) { return std::isfinite(value) ? shortest_text(value) : "nan"; }

void write_line(const std::vector<std::string>& fields, AtomicFile& file) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    line += (i == 0 ? "" : ",") + csv_field(fields[i]);
  }
  file.write(line + kLineEnd);
}

}  // namespace

void write_csv_header(const Sweep& sweep, AtomicFile& file) {
  std::vector<std::string> names = {"point"};
  for (const Axis& axis : sweep.axes) {
    names.push_back(axis.field.path);
    if (axis.field.kind == FieldKind::quantity) {
      names.push_back(axis.field.path + std::string(unit_suffix(axis.field.dimension)));
    }
  }
  for (const char* name :
       {"strategy", "outcome", "reason", "wall_s", "forward_s", "backward_s", "optimizer_s",
        "checkpoint_s", "exposed_communication_s", "busy_communication_s", "peak_memory_bytes",
        "capacity_bytes", "sent_bytes", "skipped_steps", "limiting_factor", "loss"}) {
    names.emplace_back(name);
  }
  write_line(names, file);
}

void write_csv_row(const Sweep& sweep, std::size_t task, const Row& row, AtomicFile& file) {
  const std::size_t point = task / sweep.strategies.size();
  const std::vector<std::size_t> indices = sweep.coordinates(point);
  std::vector<std::string> fields = {std::to_string(point)};
  for (std::size_t a = 0; a < sweep.axes.size(); ++a) {
    const Axis& axis = sweep.axes[a];
    const AxisValue& value = axis.values[indices[a]];
    fields.push_back(axis.field.kind == FieldKind::text ? safe_text(value.text) : value.text);
    if (axis.field.kind == FieldKind::quantity) {
      fields.push_back(number(value.number));
    }
  }
  fields.push_back(sweep.strategies[task % sweep.strategies.size()]);
  fields.emplace_back(name(row.outcome));
  fields.push_back(safe_text(row.reason));
  const bool completed = row.outcome == Outcome::completed;
  for (const double seconds :
       {row.wall_s, row.forward_s, row.backward_s, row.optimizer_s, row.checkpoint_s,
        row.exposed_communication_s, row.busy_communication_s}) {
    fields.push_back(completed ? number(seconds) : "");
  }
  fields.push_back(completed ? std::to_string(row.peak_memory_bytes) : "");
  fields.push_back(row.capacity_bytes > 0 ? std::to_string(row.capacity_bytes) : "");
  fields.push_back(completed ? std::to_string(row.sent_bytes) : "");
  fields.push_back(completed ? std::to_string(row.skipped_steps) : "");
  fields.push_back(row.limiting_factor);
  fields.push_back(row.loss.has_value() ? number(*row.loss) : "");
  write_line(fields, file);
}

std::string safe_text(const std::string& text) {
  const bool is_formula =
      !text.empty() && std::string_view("=+-@").find(text[0]) != std::string_view::npos;
  return (is_formula ? "'" : "") + text;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace shardscope
