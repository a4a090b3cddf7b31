#include "sim/sweep/axis.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "sim/report/format.h"
#include "sim/sweep/range.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"
#include "sim/text/text_file.h"

namespace shardscope {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) {
    return {};
  }
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

std::vector<std::string> split_at_colons(std::string_view text) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  for (std::size_t end = 0; end <= text.size(); ++end) {
    if (end == text.size() || text[end] == ':') {
      words.emplace_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return words;
}

std::string upper_case(std::string text) {
  for (char& letter : text) {
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return text;
}

// At commas outside brackets, so that a list may be a value: "[8,8],[16,16]".
std::vector<std::string> split_values(std::string_view text) {
  std::vector<std::string> values;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      values.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    } else if (text[i] == '[') {
      ++depth;
    } else if (text[i] == ']') {
      --depth;
    }
  }
  return values;
}

// Whether steps of the ascending numbers are nearer to equal ratios than to equal differences.
bool is_geometric(const std::vector<double>& ascending) {
  if (ascending.size() < 3 || ascending.front() <= 0) {
    return false;
  }
  double least_step = HUGE_VAL;
  double largest_step = 0;
  double least_ratio = HUGE_VAL;
  double largest_ratio = 0;
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    const double step = ascending[i] - ascending[i - 1];
    const double ratio = std::log(ascending[i] / ascending[i - 1]);
    least_step = std::min(least_step, step);
    largest_step = std::max(largest_step, step);
    least_ratio = std::min(least_ratio, ratio);
    largest_ratio = std::max(largest_ratio, ratio);
  }
  return largest_ratio / least_ratio < largest_step / least_step;
}

Scale scale_of_list(const ScenarioField& field, const std::vector<AxisValue>& values) {
  if (!field.is_numeric()) {
    return Scale::category;
  }
  std::vector<double> numbers;
  numbers.reserve(values.size());
  for (const AxisValue& value : values) {
    numbers.push_back(value.number);
  }
  std::sort(numbers.begin(), numbers.end());
  return is_geometric(numbers) ? Scale::log : Scale::linear;
}

// Reads one axis, collecting what is wrong with it.
class AxisReader {
 public:
  AxisReader(const AxisText& text, std::vector<Fault>& faults) : text_(text), faults_(faults) {}

  std::optional<Axis> read() {
    const std::size_t before = faults_.size();
    axis_.place = text_.place;
    if (!read_field()) {
      return std::nullopt;
    }
    if (is_shape_good()) {
      axis_.is_range = !text_.values.has_value();
      axis_.is_range ? read_range() : read_list();
    }
    return faults_.size() == before ? std::optional(std::move(axis_)) : std::nullopt;
  }

 private:
  void refuse(const std::string& place, const std::string& problem, const std::string& allowed) {
    faults_.push_back({place, shown(text_.field->text), problem, allowed, {}});
  }

  bool read_field() {
    if (!text_.field.has_value()) {
      faults_.push_back({text_.place,
                         "sweep.axis.field",
                         "missing",
                         "the path of a field, for example cluster.world_size",
                         {}});
      return false;
    }
    const std::string& path = text_.field->text;
    const std::string& place = text_.field->place;
    if (path == "strategies") {
      refuse(place, "cannot be an axis",
             "strategies are always crossed with the axes; choose them with --strategy A,B");
      return false;
    }
    if (path == "sweep" || path.starts_with("sweep.")) {
      refuse(place, "cannot be an axis", "a field outside the sweep");
      return false;
    }
    Fault fault;
    const std::optional<ScenarioField> field = find_scenario_field(path, fault);
    if (!field.has_value()) {
      fault.place = place;
      faults_.push_back(fault);
      return false;
    }
    if (field->kind == FieldKind::block) {
      refuse(place, "is a block of fields", "one of its fields");
      return false;
    }
    axis_.field = *field;
    return true;
  }

  // A list or a range, and all of it.
  bool is_shape_good() {
    const std::size_t before = faults_.size();
    const std::array<std::pair<const std::optional<PlacedText>*, const char*>, 3> needed = {
        {{&text_.from, "from"}, {&text_.to, "to"}, {&text_.points, "points"}}};
    if (text_.values.has_value()) {
      for (const auto* given : {&text_.from, &text_.to, &text_.points, &text_.scale}) {
        if (given->has_value()) {
          refuse((*given)->place, shown((*given)->text) + " stands beside values",
                 "values, or from, to, points and scale");
        }
      }
      return faults_.size() == before;
    }
    const bool only_points_missing = text_.from && text_.to && !text_.points;
    if (only_points_missing) {
      refuse(text_.place, "the number of points of the range is missing", points_example());
      return false;
    }
    for (const auto& [given, name] : needed) {
      if (!given->has_value()) {
        refuse(text_.place, std::string(name) + " missing",
               "values: \"A,B\", or from, to and points");
      }
    }
    if (faults_.size() == before && !axis_.field.is_numeric()) {
      refuse(text_.from->place, "has no range: it is neither a number nor a quantity",
             "values, separated by commas");
    }
    return faults_.size() == before;
  }

  // In the words of the place where the axis was given.
  std::string points_example() const {
    const bool is_argument = text_.place.starts_with("--axis ");
    return is_argument ? "for example " + shown(text_.field->text) + "=" + shown(text_.from->text) +
                             ".." + shown(text_.to->text) + ":5"
                       : "for example points: 5";
  }

  void read_list() {
    const PlacedText& given = *text_.values;
    for (const std::string& text : split_values(given.text)) {
      if (text.empty()) {
        refuse(given.place, shardscope::quoted(given.text) + " has an empty value",
               "values, separated by commas");
        continue;
      }
      if (std::optional<Fault> fault = why_no_value(axis_.field, text)) {
        fault->place = given.place;
        faults_.push_back(*fault);
        continue;
      }
      axis_.values.push_back(
          {text, axis_.field.is_numeric() ? numeric_value(axis_.field, text) : 0});
    }
    refuse_duplicates(given.place);
    axis_.scale = scale_of_list(axis_.field, axis_.values);
  }

  void refuse_duplicates(const std::string& place) {
    std::set<std::pair<double, std::string>> seen;
    for (const AxisValue& value : axis_.values) {
      const bool numeric = axis_.field.is_numeric();
      if (!seen.emplace(value.number, numeric ? "" : value.text).second) {
        refuse(place, shown(value.text) + " is listed twice", "each value once");
      }
    }
  }

  void read_range() {
    const bool from_is_good = check_end(*text_.from);
    const bool to_is_good = check_end(*text_.to);
    const std::size_t points = read_points();
    if (from_is_good && to_is_good && check_order() && points != 0) {
      make_points(points);
    }
  }

  bool check_end(const PlacedText& end) {
    std::optional<Fault> fault = why_no_value(axis_.field, trimmed(end.text));
    if (!fault.has_value() && !std::isfinite(numeric_value(axis_.field, trimmed(end.text)))) {
      fault = Fault{
          {}, axis_.field.path, shown(end.text) + " is no end of a range", "a finite number", {}};
    }
    if (fault.has_value()) {
      fault->place = end.place;
      faults_.push_back(*fault);
    }
    return !fault.has_value();
  }

  // 0 if they are wrong.
  std::size_t read_points() {
    const PlacedText& given = *text_.points;
    const std::string text = trimmed(given.text);
    std::size_t points = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), points);
    const bool good = error == std::errc() && end == text.data() + text.size() && points >= 2 &&
                      points <= kMostPoints;
    if (!good) {
      refuse(given.place, shown(given.text) + " is not allowed as the number of points",
             "a whole number from 2 to " + std::to_string(kMostPoints));
    }
    return good ? points : 0;
  }

  // Of a whole number all digits.
  long double end_number(const PlacedText& end) const {
    const std::string text = trimmed(end.text);
    return axis_.field.kind == FieldKind::whole
               ? std::strtold(text.c_str(), nullptr)
               : static_cast<long double>(numeric_value(axis_.field, text));
  }

  bool check_order() {
    const long double from = end_number(*text_.from);
    const long double to = end_number(*text_.to);
    axis_.scale =
        text_.scale.has_value() && text_.scale->text == "LOG" ? Scale::log : Scale::linear;
    if (!(from < to)) {
      refuse(text_.to->place,
             "the range from " + shown(text_.from->text) + " to " + shown(text_.to->text) +
                 (from == to ? " is empty" : " is reversed"),
             "from less than to");
      return false;
    }
    if (axis_.scale == Scale::log && !(from > 0)) {
      refuse(text_.from->place, shown(text_.from->text) + " is no beginning of a log scale",
             "greater than 0, or scale LINEAR");
      return false;
    }
    return true;
  }

  void make_points(std::size_t points) {
    const std::string from = trimmed(text_.from->text);
    const std::string to = trimmed(text_.to->text);
    const std::string unit = unit_of(from);
    RangeRequest request{.from = std::strtold(from.c_str(), nullptr),
                         .to = std::strtold(to.c_str(), nullptr),
                         .points = points,
                         .is_log = axis_.scale == Scale::log};
    if (axis_.field.kind == FieldKind::whole) {
      for (const long long point : whole_points(request)) {
        add(std::to_string(point));
      }
      return;
    }
    if (unit != unit_of(to)) {
      request.to = static_cast<long double>(numeric_value(axis_.field, to)) /
                   numeric_value(axis_.field, "1" + unit);
    }
    add(from);
    for (const double point : inner_points(request)) {
      add(shortest_text(point) + unit);
    }
    add(to);
    const auto not_ascending = [](const AxisValue& a, const AxisValue& b) {
      return !(a.number < b.number);
    };
    if (std::adjacent_find(axis_.values.begin(), axis_.values.end(), not_ascending) !=
        axis_.values.end()) {
      refuse(text_.points->place,
             std::to_string(points) + " points cannot be told apart between " + shown(from) +
                 " and " + shown(to),
             "fewer");
    }
  }

  void add(const std::string& text) {
    axis_.values.push_back({text, numeric_value(axis_.field, text)});
  }

  const AxisText& text_;
  std::vector<Fault>& faults_;
  Axis axis_;
};

}  // namespace

std::string_view name(Scale scale) {
  switch (scale) {
    case Scale::linear:
      return "linear";
    case Scale::log:
      return "log";
    case Scale::category:
      return "category";
  }
  return "";
}

std::optional<AxisText> parse_axis_argument(const std::string& argument,
                                            std::vector<Fault>& faults) {
  const std::string place = "--axis " + shown(argument);
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0 || find_non_text(argument)) {
    faults.push_back({place,
                      {},
                      "is neither FIELD=FROM..TO:POINTS[:log] nor FIELD=V1,V2,...",
                      "for example cluster.world_size=2,4,8",
                      {}});
    return std::nullopt;
  }
  const auto placed = [&](std::string text) { return PlacedText{std::move(text), place}; };
  AxisText axis;
  axis.place = place;
  axis.field = placed(argument.substr(0, equals));
  const std::string value = argument.substr(equals + 1);
  const std::size_t dots = value.find("..");
  Fault ignored;
  const auto field = find_scenario_field(axis.field->text, ignored);
  const bool may_be_range =  // Paths may have dots of their own.
      !field.has_value() || (field->kind != FieldKind::text && field->kind != FieldKind::list);
  if (dots == std::string::npos || !may_be_range) {
    axis.values = placed(value);
    return axis;
  }
  const std::vector<std::string> words = split_at_colons(value.substr(dots + 2));
  axis.from = placed(value.substr(0, dots));
  axis.to = placed(words[0]);
  if (words.size() > 1) {
    axis.points = placed(words[1]);
  }
  if (words.size() > 2) {
    const std::string scale = upper_case(words[2]);
    const std::vector<std::string> scales = {"linear", "log"};
    if (words.size() > 3 || (scale != "LOG" && scale != "LINEAR")) {
      faults.push_back({place, axis.field->text, shown(words.back()) + " is no scale",
                        one_of(scales), nearest_name(words[2], scales)});
      return std::nullopt;
    }
    axis.scale = placed(scale);
  }
  return axis;
}

std::optional<Axis> read_axis(const AxisText& text, std::vector<Fault>& faults) {
  return AxisReader(text, faults).read();
}

Axis make_axis(const ScenarioField& field, Scale scale, const std::vector<std::string>& values) {
  Axis axis{.field = field, .scale = scale, .values = {}, .place = ""};
  axis.values.reserve(values.size());
  for (const std::string& text : values) {
    axis.values.push_back({text, field.is_numeric() ? numeric_value(field, text) : 0});
  }
  return axis;
}

std::string unit_of(std::string_view text) {
  long double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? trimmed({end, text.data() + text.size()}) : std::string();
}

std::string axis_number_text(const Axis& axis, double number) {
  const AxisValue* nearest = &axis.values.front();
  for (const AxisValue& value : axis.values) {
    if (value.number == number) {
      return value.text;
    }
    const bool below = value.number < number;
    if (below && (nearest->number > number || value.number > nearest->number)) {
      nearest = &value;
    }
  }
  const std::string unit =
      axis.field.kind == FieldKind::quantity ? unit_of(nearest->text) : std::string();
  const double size = unit.empty() ? 1 : numeric_value(axis.field, "1" + unit);
  return trimmed_significant(number / size, 3, 9) + unit;
}

}  // namespace shardscope
