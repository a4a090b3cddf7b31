// A configuration file as a tree of values with their places, whether it was JSON or YAML.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/source.h"
#include "sim/text/fault.h"

namespace shardscope {

struct ConfigMember;

struct ConfigValue {
  enum class Kind { null, boolean, number, text, list, object };
  Kind kind = Kind::null;
  std::string text;      ///< As written, without quotes; empty for lists and objects.
  double number = 0;     ///< Of a number.
  bool boolean = false;  ///< Of a boolean.
  Position position;
  std::vector<ConfigMember> members;  ///< Of an object, in the order of the file. Keys differ.
  std::vector<ConfigValue> elements;  ///< Of a list.

  /// The member of that key, or null.
  const ConfigValue* find(std::string_view key) const;
};

struct ConfigMember {
  std::string key;
  ConfigValue value;
};

/// The value on one line, for reports: text in quotes, "[...]" and "{...}" for what has parts.
std::string value_text(const ConfigValue& value);

/// The text with ASCII's letters in lower case.
std::string lower_case(std::string text);

/// "path:line:column".
std::string place_text(std::string_view path, Position position);

/// Deeper nesting is refused, and so are more values.
inline constexpr int kDeepestConfig = 24;
inline constexpr std::size_t kMostConfigValues = 20'000;

/// Parses JSON with comments and trailing commas; an object. Nothing and the faults with their
/// places if it is something else, or a key is given twice. `path` is for places.
std::optional<ConfigValue> parse_json_config(const std::string& text, const std::string& path,
                                             std::vector<Fault>& faults);

/// The same of YAML 1.1's core: one document, a mapping.
std::optional<ConfigValue> parse_yaml_config(const std::string& text, const std::string& path,
                                             std::vector<Fault>& faults);

}  // namespace shardscope
