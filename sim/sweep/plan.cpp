#include "sim/sweep/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/report/format.h"
#include "sim/run/sources.h"
#include "sim/scenario/field_paths.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

// The axis's number as its value's place until the fault is shown.
std::string axis_argument(std::size_t axis) { return "axis " + std::to_string(axis); }

std::string set_path(const Override& set) {
  return set.assignment.substr(0, set.assignment.find('='));
}

// The axes of the file, those of the command line in place of theirs or behind them.
std::vector<AxisText> collect_axes(const PointSource& source,
                                   const std::vector<std::string>& arguments,
                                   std::vector<Fault>& faults) {
  std::vector<AxisText> axes = axes_of_file(source);
  const std::size_t of_file = axes.size();
  std::vector<bool> replaced(of_file, false);
  for (const std::string& argument : arguments) {
    std::optional<AxisText> axis = parse_axis_argument(argument, faults);
    if (!axis.has_value()) {
      continue;
    }
    std::size_t same = 0;
    while (same < of_file &&
           (replaced[same] || !axes[same].field || axes[same].field->text != axis->field->text)) {
      ++same;
    }
    if (same < of_file) {
      replaced[same] = true;
      axes[same] = std::move(*axis);
    } else {
      axes.push_back(std::move(*axis));
    }
  }
  return axes;
}

void refuse_repeated(const std::vector<AxisText>& axes, std::vector<Fault>& faults) {
  std::set<std::string> seen;
  for (const AxisText& axis : axes) {
    if (axis.field.has_value() && !seen.insert(axis.field->text).second) {
      faults.push_back(
          {axis.field->place, shown(axis.field->text), "is an axis twice", "each field once", {}});
    }
  }
}

// A field cannot be both an axis of the command line and set there.
void refuse_set_fields(const std::vector<std::string>& arguments,
                       const std::vector<Override>& overrides, std::vector<Fault>& faults) {
  for (const std::string& argument : arguments) {
    const std::string field = argument.substr(0, argument.find('='));
    for (const Override& set : overrides) {
      if (covers(set_path(set), field)) {
        faults.push_back({"--axis " + shown(argument),
                          field,
                          "is also given by " + shown(set.argument),
                          "one of the two",
                          {}});
      }
    }
  }
}

std::vector<Axis> read_axes(const std::vector<AxisText>& texts, std::vector<Fault>& faults) {
  std::vector<Axis> axes;
  for (const AxisText& text : texts) {
    if (std::optional<Axis> axis = read_axis(text, faults)) {
      axes.push_back(std::move(*axis));
    }
  }
  return axes;
}

bool has_too_many_points(const std::vector<Axis>& axes) {
  std::size_t points = 1;
  for (const Axis& axis : axes) {
    points *= axis.values.size();
    if (points > kMostPoints) {
      return true;
    }
  }
  return false;
}

std::optional<Scenario> scenario_with(const PointSource& source, const std::vector<Axis>& axes,
                                      const std::vector<std::size_t>& indices,
                                      std::vector<Fault>& faults) {
  std::vector<Override> overrides = source.overrides;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    overrides.push_back(
        {axis_argument(a), axes[a].field.path + "=" + axes[a].values[indices[a]].text});
  }
  std::vector<Fault> found;
  std::optional<Scenario> scenario =
      parse_scenario(source.file, overrides, source.platforms, found);
  for (Fault& fault : found) {
    for (std::size_t a = 0; a < axes.size(); ++a) {
      if (fault.place == axis_argument(a)) {
        fault.place = axes[a].place;
      }
    }
    faults.push_back(std::move(fault));
  }
  return scenario;
}

// Finds the faults that no combination of values is to blame for, each once.
class ValueChecks {
 public:
  ValueChecks(const PointSource& source, const std::vector<Axis>& axes, std::vector<Fault>& faults)
      : source_(source), axes_(axes), faults_(faults) {}

  // Fields' ranges are intervals: the ends of an axis's range stand for all its points.
  void run() {
    check(std::vector<std::size_t>(axes_.size(), 0));
    for (std::size_t a = 0; a < axes_.size(); ++a) {
      const std::size_t last = axes_[a].values.size() - 1;
      for (std::size_t i = axes_[a].is_range ? last : std::min<std::size_t>(1, last); i <= last;
           ++i) {
        std::vector<std::size_t> indices(axes_.size(), 0);
        indices[a] = i;
        check(indices);
      }
    }
  }

 private:
  void check(const std::vector<std::size_t>& indices) {
    std::vector<Fault> found;
    scenario_with(source_, axes_, indices, found);
    for (const Fault& fault : found) {
      if (!fault.of_combination && seen_.insert(format_fault(fault)).second) {
        faults_.push_back(fault);
      }
    }
  }

  const PointSource& source_;
  const std::vector<Axis>& axes_;
  std::vector<Fault>& faults_;
  std::set<std::string> seen_;
};

// What is wrong with the scenario beside axes that cannot be read: what those would have given is
// not missing.
void check_scenario_without(const std::vector<AxisText>& texts, const std::vector<Axis>& axes,
                            const PointSource& source, std::vector<Fault>& faults) {
  std::vector<Fault> found;
  ValueChecks(source, axes, found).run();
  for (const Fault& fault : found) {
    const bool explained = std::any_of(texts.begin(), texts.end(), [&](const AxisText& text) {
      return text.field.has_value() && covers(fault.field, text.field->text);
    });
    if (!explained || fault.problem != "missing") {
      faults.push_back(fault);
    }
  }
}

bool has_sources(const Scenario& scenario, std::vector<Fault>& faults) {
  std::vector<std::string> problems;
  open_sources(scenario, problems);
  for (const std::string& problem : problems) {
    faults.push_back({"", "", problem, "", {}});
  }
  return problems.empty();
}

// The first point without faults. If there is none, the faults of the very first one.
std::optional<Scenario> find_good_point(const PointSource& source, const Sweep& sweep,
                                        std::vector<Fault>& faults) {
  std::vector<Fault> of_first;
  const std::size_t count = sweep.point_count();
  for (std::size_t point = 0; point < count; ++point) {
    std::vector<Fault> found;
    std::optional<Scenario> scenario = scenario_at(source, sweep, point, found);
    if (scenario.has_value() && has_sources(*scenario, found)) {
      return scenario;
    }
    if (point == 0) {
      of_first = std::move(found);
    }
  }
  faults.insert(faults.end(), of_first.begin(), of_first.end());
  if (count > 1) {
    faults.push_back({source.file.path,
                      "sweep",
                      "none of the " + format_count(count) + " points can be run",
                      "the faults above are those of the first one",
                      {}});
  }
  return std::nullopt;
}

std::map<std::string, std::string> set_fields(const std::vector<Override>& overrides) {
  std::map<std::string, std::string> fields;
  for (const Override& set : overrides) {
    const std::string path = set_path(set);
    if (path != "strategies") {  // Those that run are part of the sweep.
      fields[path] = set.assignment.substr(std::min(path.size() + 1, set.assignment.size()));
    }
  }
  return fields;
}

std::string arithmetic_of(const Sweep& sweep, const Scenario& scenario) {
  for (const Axis& axis : sweep.axes) {
    if (axis.field.path == "training.arithmetic" && axis.values.size() > 1) {
      return "REAL and NONE";
    }
  }
  return scenario.training.storage == Storage::real ? "REAL" : "NONE";
}

}  // namespace

std::vector<AxisText> axes_of_file(const PointSource& source) {
  std::vector<AxisText> axes = parse_sweep_block(source.file, source.overrides);
  std::erase_if(axes, [&](const AxisText& axis) {
    return axis.field.has_value() &&
           std::any_of(source.overrides.begin(), source.overrides.end(), [&](const Override& set) {
             return covers(set_path(set), axis.field->text);
           });
  });
  return axes;
}

std::optional<Sweep> plan_sweep(const PointSource& source,
                                const std::vector<std::string>& axis_arguments,
                                const std::string& version, std::vector<Fault>& faults) {
  const std::size_t before = faults.size();
  const std::vector<AxisText> texts = collect_axes(source, axis_arguments, faults);
  if (texts.empty() && faults.size() == before) {
    faults.push_back({source.file.path,
                      "sweep",
                      "has no axes",
                      "axes in the file, or for example --axis cluster.world_size=2,4,8",
                      {}});
  }
  refuse_repeated(texts, faults);
  refuse_set_fields(axis_arguments, source.overrides, faults);
  Sweep sweep;
  sweep.version = version;
  sweep.axes = read_axes(texts, faults);
  if (has_too_many_points(sweep.axes)) {
    faults.push_back({source.file.path,
                      "sweep",
                      "has too many points",
                      "at most " + format_count(kMostPoints) + " combinations of values",
                      {}});
  }
  if (faults.size() != before) {
    check_scenario_without(texts, sweep.axes, source, faults);
    return std::nullopt;
  }
  ValueChecks(source, sweep.axes, faults).run();
  if (faults.size() != before) {
    return std::nullopt;
  }
  const std::optional<Scenario> good = find_good_point(source, sweep, faults);
  if (!good.has_value()) {
    return std::nullopt;
  }
  sweep.name = good->name;
  sweep.scenario_digest = good->digest;
  sweep.arithmetic = arithmetic_of(sweep, *good);
  sweep.set = set_fields(source.overrides);
  for (const Strategy& strategy : good->strategies) {
    sweep.strategies.emplace_back(strategy.name);
  }
  return sweep;
}

std::optional<Scenario> scenario_at(const PointSource& source, const Sweep& sweep,
                                    std::size_t point, std::vector<Fault>& faults) {
  return scenario_with(source, sweep.axes, sweep.coordinates(point), faults);
}

}  // namespace shardscope
