#include <json/json.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/files/json_syntax.h"
#include "sim/frameworks/config_value.h"

namespace shardscope {
namespace {

class Tree {
 public:
  explicit Tree(const std::string& text) : text_(text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') line_starts_.push_back(i + 1);
    }
  }

  // The parser has bounded the depth.
  ConfigValue read(const Json::Value& json) const {
    ConfigValue value;
    value.position = position(offset(json));
    if (json.isBool()) {
      value.kind = ConfigValue::Kind::boolean;
      value.boolean = json.asBool();
      value.text = value.boolean ? "true" : "false";
    } else if (json.isNumeric()) {
      value.kind = ConfigValue::Kind::number;
      value.number = json.asDouble();
      value.text = text_.substr(
          offset(json), static_cast<std::size_t>(json.getOffsetLimit() - json.getOffsetStart()));
    } else if (json.isString()) {
      value.kind = ConfigValue::Kind::text;
      value.text = json.asString();
    } else if (json.isArray()) {
      value.kind = ConfigValue::Kind::list;
      for (const Json::Value& element : json) value.elements.push_back(read(element));
    } else if (json.isObject()) {
      value.kind = ConfigValue::Kind::object;
      for (auto member = json.begin(); member != json.end(); ++member) {
        value.members.push_back({.key = member.name(), .value = read(*member)});
      }
      std::sort(value.members.begin(), value.members.end(),
                [](const ConfigMember& a, const ConfigMember& b) {
                  return std::pair(a.value.position.line, a.value.position.column) <
                         std::pair(b.value.position.line, b.value.position.column);
                });
    }
    return value;
  }

 private:
  static std::size_t offset(const Json::Value& json) {
    return static_cast<std::size_t>(json.getOffsetStart());
  }

  Position position(std::size_t offset) const {
    const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
    return {.line = static_cast<int>(next - line_starts_.begin()),
            .column = static_cast<int>(offset - *(next - 1)) + 1};
  }

  const std::string& text_;
  std::vector<std::size_t> line_starts_{0};
};

}  // namespace

std::optional<ConfigValue> parse_json_config(const std::string& text, const std::string& path,
                                             std::vector<Fault>& faults) {
  const auto refuse = [&](const std::string& problem, const std::string& allowed) {
    faults.push_back(
        {.place = path, .field = {}, .problem = problem, .allowed = allowed, .nearest = {}});
    return std::nullopt;
  };
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return refuse("is empty", "a JSON object");
  }
  const auto separators =
      std::count_if(text.begin(), text.end(), [](char c) { return c == ',' || c == ':'; });
  if (static_cast<std::size_t>(separators) > kMostConfigValues) {
    return refuse("holds too many values", "at most " + std::to_string(kMostConfigValues));
  }
  Json::CharReaderBuilder builder;
  builder["allowComments"] = true;
  builder["allowTrailingCommas"] = true;
  builder["collectComments"] = false;
  builder["failIfExtra"] = true;
  builder["rejectDupKeys"] = true;
  builder["stackLimit"] = kDeepestConfig;
  const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
  Json::Value root;
  std::string message;
  try {
    if (!reader->parse(text.data(), text.data() + text.size(), &root, &message)) {
      for (const JsonSyntaxError& error : json_syntax_errors(message)) {
        faults.push_back({.place = place_text(path, {error.line, error.column}),
                          .field = {},
                          .problem = "is not JSON: " + error.message,
                          .allowed = "JSON; comments and trailing commas are read",
                          .nearest = {}});
      }
      return std::nullopt;
    }
    ConfigValue value = Tree(text).read(root);
    if (value.kind != ConfigValue::Kind::object) {
      return refuse(value_text(value) + " is no configuration", "an object: { \"key\": value }");
    }
    return value;
  } catch (const Json::Exception&) {
    return refuse("is nested too deeply", "at most " + std::to_string(kDeepestConfig) + " levels");
  }
}

}  // namespace shardscope
