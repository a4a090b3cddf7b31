#include "sim/frameworks/key_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

// The largest model of a scenario has so many parameters: larger sizes in elements mean the same.
constexpr double kMostElements = 1e13;

std::vector<std::string> choices_of(const KeyRule& rule) {
  std::vector<std::string> words;
  std::string_view rest = rule.choices;
  while (!rest.empty()) {
    const std::size_t bar = rest.find('|');
    words.emplace_back(rest.substr(0, bar));
    rest = bar == std::string_view::npos ? std::string_view() : rest.substr(bar + 1);
  }
  return words;
}

std::string describe(const KeyRule& rule) {
  switch (rule.type) {
    case KeyType::boolean:
      return "true or false";
    case KeyType::whole:
    case KeyType::number: {
      std::string text = rule.type == KeyType::whole ? "a whole number" : "a number";
      char bound[32];
      std::snprintf(bound, sizeof bound, "%.15g", rule.low);
      text += " from " + std::string(bound);
      if (rule.high < std::numeric_limits<double>::max()) {
        std::snprintf(bound, sizeof bound, "%.15g", rule.high);
        text += " to " + std::string(bound);
      }
      return text;
    }
    case KeyType::text:
      return rule.choices.empty() ? "text" : one_of(choices_of(rule));
    case KeyType::block:
      return "a block of keys";
    case KeyType::any:
      break;
  }
  return {};
}

// A fault, or the value.
std::optional<std::string> check_number(const ConfigValue& value, const KeyRule& rule,
                                        std::string& nearest) {
  if (value.kind != ConfigValue::Kind::number) return std::nullopt;
  const bool fits = value.number >= rule.low && value.number <= rule.high;
  if (rule.type == KeyType::number) return fits ? std::optional(value.text) : std::nullopt;
  const double whole = std::trunc(value.number);
  if (!fits || whole != value.number) {
    if (fits && whole >= rule.low && whole <= kMostElements) {
      nearest = std::to_string(static_cast<std::uint64_t>(whole));
    }
    return std::nullopt;
  }
  if (whole < 0) return std::to_string(static_cast<std::int64_t>(whole));
  return std::to_string(static_cast<std::uint64_t>(std::min(whole, kMostElements)));
}

std::optional<std::string> check_text(const ConfigValue& value, const KeyRule& rule,
                                      std::string& nearest) {
  const std::vector<std::string> choices = choices_of(rule);
  if (choices.empty()) {
    return value.kind == ConfigValue::Kind::text ? std::optional(value.text) : std::nullopt;
  }
  const std::string text = lower_case(value.text);
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
  nearest = nearest_name(text, choices);
  return std::nullopt;
}

// Both frameworks take the words as text as well.
std::optional<std::string> check_boolean(const ConfigValue& value) {
  if (value.kind == ConfigValue::Kind::boolean) return value.boolean ? "true" : "false";
  const std::string text = lower_case(value.text);
  if (value.kind != ConfigValue::Kind::text || (text != "true" && text != "false")) {
    return std::nullopt;
  }
  return text;
}

std::optional<std::string> check_value(const ConfigValue& value, const KeyRule& rule,
                                       std::string& nearest) {
  switch (rule.type) {
    case KeyType::boolean:
      return check_boolean(value);
    case KeyType::whole:
    case KeyType::number:
      return check_number(value, rule, nearest);
    case KeyType::text:
      return check_text(value, rule, nearest);
    case KeyType::block:
      if (value.kind != ConfigValue::Kind::object) return std::nullopt;
      return value_text(value);
    case KeyType::any:
      break;
  }
  return value_text(value);
}

Effect effect_of(const KeyRule& rule) {
  switch (rule.use) {
    case Use::read:
    case Use::option:
      return Effect::modelled;
    case Use::note:
      return Effect::not_modelled;
    case Use::parts:
    case Use::none:
    case Use::refused:
      break;
  }
  return Effect::none;
}

bool is_empty(const ConfigValue* value) {
  if (value == nullptr || value->kind == ConfigValue::Kind::null) return true;
  const bool has_parts =
      value->kind == ConfigValue::Kind::object || value->kind == ConfigValue::Kind::list;
  return has_parts && value->members.empty() && value->elements.empty();
}

bool holds_at(const KeyRule& rule, int stage) { return (rule.stages >> stage & 1U) != 0; }

}  // namespace

void ConfigReading::fault(Position position, const std::string& field, const std::string& problem,
                          const std::string& allowed, const std::string& nearest) {
  faults_.push_back({.place = place_text(path_, position),
                     .field = field,
                     .problem = problem,
                     .allowed = allowed,
                     .nearest = nearest});
}

void ConfigReading::conflict(Position position, const std::string& field,
                             const std::string& problem, const std::string& allowed) {
  fault(position, field, problem, allowed);
  faults_.back().of_combination = true;
}

void ConfigReading::override_field(std::string_view field, const std::string& value,
                                   const std::string& key, const ConfigValue* given) {
  const std::string line =
      given == nullptr ? ": default of " : ":" + std::to_string(given->position.line) + ": ";
  config.overrides.push_back({.argument = path_.substr(path_.rfind('/') + 1) + line + key,
                              .assignment = std::string(field) + "=" + value});
  fields_[key].emplace_back(field);
}

void ConfigReading::add_item(const ConfigValue* given, ConfigItem item) {
  const Position position = given == nullptr
                                ? Position{.line = std::numeric_limits<int>::max(), .column = 0}
                                : given->position;
  items_.emplace_back(position, std::move(item));
}

std::optional<FrameworkConfig> ConfigReading::finish() {
  if (has_faults()) return std::nullopt;
  std::stable_sort(items_.begin(), items_.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.line, a.first.column) < std::tie(b.first.line, b.first.column);
  });
  std::vector<ConfigItem> items;
  for (auto& [position, item] : items_) {
    item.fields = fields_[item.key];
    items.push_back(std::move(item));
  }
  config.items.insert(config.items.begin(), std::make_move_iterator(items.begin()),
                      std::make_move_iterator(items.end()));
  return std::move(config);
}

ConfigBlock::ConfigBlock(const ConfigValue* block, const std::string& prefix, const KeyTable& table,
                         UnknownKeys unknown, const ResolveAuto& resolve, ConfigReading& reading)
    : prefix_(prefix) {
  settings_.reserve(table.size());
  for (const KeyRule& rule : table) {
    settings_.push_back({.rule = &rule,
                         .key = prefix + std::string(rule.alias.empty() ? rule.key : rule.alias),
                         .given = nullptr,
                         .origin = Origin::by_default,
                         .value = std::string(rule.default_value)});
  }
  if (block == nullptr) return;
  for (const ConfigMember& member : block->members) read(member, unknown, resolve, reading);
}

void ConfigBlock::read(const ConfigMember& member, UnknownKeys unknown, const ResolveAuto& resolve,
                       ConfigReading& reading) {
  const auto found = std::find_if(settings_.begin(), settings_.end(), [&](const Setting& s) {
    return s.rule->key == member.key || (!s.rule->alias.empty() && s.rule->alias == member.key);
  });
  if (found == settings_.end()) {
    add_unknown(member, unknown, reading);
    return;
  }
  Setting& setting = *found;
  const KeyRule& rule = *setting.rule;
  const Position position = member.value.position;
  const std::string key = prefix_ + member.key;
  if (setting.given != nullptr) {
    reading.fault(position, key, "is given a second time, as " + setting.key, "one of the two");
    return;
  }
  setting.key = key;
  setting.given = &member.value;
  setting.origin = Origin::given;
  if (member.value.kind == ConfigValue::Kind::null) return;
  if (member.value.kind == ConfigValue::Kind::text && member.value.text == "auto") {
    setting.origin = Origin::resolved;
    if (const auto value = resolve(setting)) setting.value = *value;
    return;
  }
  std::string nearest;
  const std::optional<std::string> value = check_value(member.value, rule, nearest);
  if (!value) {
    reading.fault(position, key, value_text(member.value) + " is not allowed", describe(rule),
                  nearest);
    setting.value.clear();
    return;
  }
  if (rule.use == Use::refused && *value != rule.default_value) {
    reading.fault(position, key, value_text(member.value) + ": " + std::string(rule.meaning),
                  rule.default_value.empty() ? "leave it out" : std::string(rule.default_value));
  }
  setting.value = *value;
}

void ConfigBlock::add_unknown(const ConfigMember& member, UnknownKeys unknown,
                              ConfigReading& reading) {
  std::vector<std::string> names;
  for (const Setting& setting : settings_) {
    names.emplace_back(setting.rule->alias.empty() ? setting.rule->key : setting.rule->alias);
    if (!setting.rule->alias.empty()) names.emplace_back(setting.rule->key);
  }
  const std::string nearest = nearest_name(member.key, names);
  if (unknown == UnknownKeys::refused) {
    reading.fault(
        member.value.position, prefix_ + shown(member.key), "unknown key",
        nearest.empty()
            ? "a key of " + (prefix_.empty() ? "the format" : prefix_.substr(0, prefix_.size() - 1))
            : "",
        nearest);
    return;
  }
  reading.add_item(
      &member.value,
      {.key = prefix_ + shown(member.key),
       .value = value_text(member.value),
       .origin = Origin::given,
       .effect = Effect::unknown,
       .meaning = "the framework knows no such key" +
                  (nearest.empty() ? std::string() : "; did you mean \"" + nearest + "\"?")});
}

Setting& ConfigBlock::setting(std::string_view key) {
  const auto found = std::find_if(settings_.begin(), settings_.end(),
                                  [&](const Setting& s) { return s.rule->key == key; });
  SHARDSCOPE_CHECK(found != settings_.end(), "a key of the table");
  return *found;
}

std::optional<double> ConfigBlock::number(std::string_view key) {
  const std::string& value = setting(key).value;
  if (value.empty()) return std::nullopt;
  return std::strtod(value.c_str(), nullptr);
}

std::optional<std::uint64_t> ConfigBlock::whole(std::string_view key) {
  const std::string& value = setting(key).value;
  if (value.empty()) return std::nullopt;
  return std::strtoull(value.c_str(), nullptr, 10);
}

std::string ConfigBlock::text(std::string_view key) { return lower_case(setting(key).value); }

const ConfigValue* ConfigBlock::block(std::string_view key) {
  const ConfigValue* value = setting(key).given;
  return value != nullptr && value->kind == ConfigValue::Kind::object ? value : nullptr;
}

void ConfigBlock::report(int stage, std::string_view stages, ConfigReading& reading) {
  for (const Setting& setting : settings_) {
    const KeyRule& rule = *setting.rule;
    const bool matters = (rule.use == Use::read || rule.use == Use::option) &&
                         !setting.value.empty() && holds_at(rule, stage);
    const bool has_items = rule.use == Use::parts && !is_empty(setting.given);
    if (!has_items && (setting.given != nullptr || matters)) {
      report_setting(setting, stage, stages, reading);
    }
  }
}

void ConfigBlock::report_setting(const Setting& setting, int stage, std::string_view stages,
                                 ConfigReading& reading) {
  const KeyRule& rule = *setting.rule;
  ConfigItem item = {
      .key = setting.key,
      .value = setting.origin == Origin::given ? value_text(*setting.given) : setting.value,
      .origin = setting.origin,
      .effect = setting.effect.value_or(effect_of(rule)),
      .meaning = setting.meaning.empty() ? std::string(rule.meaning) : setting.meaning};
  if (setting.origin == Origin::resolved && setting.value.empty()) item.value = "auto";
  if (rule.type == KeyType::boolean && setting.value == "false" && setting.meaning.empty()) {
    item.meaning = item.meaning.empty() ? "off" : "off: " + item.meaning;
  }
  if (!holds_at(rule, stage)) {
    item.effect = Effect::none;
    item.meaning = "has no effect at " + std::string(stages) + " " + std::to_string(stage);
  } else if (setting.given != nullptr && is_empty(setting.given)) {
    item.effect = Effect::none;
    item.meaning = "says nothing: the default holds";
  } else if (rule.use == Use::option && item.effect == Effect::modelled && !setting.value.empty()) {
    reading.override_field(rule.field, setting.value, setting.key, setting.given);
    item.meaning += (item.meaning.empty() ? "" : ": ") + std::string(rule.field);
  } else if (rule.use == Use::refused || (rule.use == Use::note && !rule.default_value.empty() &&
                                          setting.value == rule.default_value)) {
    item.effect = Effect::none;
    item.meaning = "at its default";
  }
  reading.add_item(setting.given, std::move(item));
}

}  // namespace shardscope
