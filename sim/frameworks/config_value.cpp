#include "sim/frameworks/config_value.h"

#include <algorithm>
#include <cctype>

#include "sim/text/printable.h"

namespace shardscope {

const ConfigValue* ConfigValue::find(std::string_view key) const {
  for (const ConfigMember& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string value_text(const ConfigValue& value) {
  switch (value.kind) {
    case ConfigValue::Kind::null:
      return "null";
    case ConfigValue::Kind::text:
      return quoted(value.text);
    case ConfigValue::Kind::list:
      return value.elements.empty() ? "[]" : "[...]";
    case ConfigValue::Kind::object:
      return value.members.empty() ? "{}" : "{...}";
    case ConfigValue::Kind::boolean:
      return value.boolean ? "true" : "false";
    case ConfigValue::Kind::number:
      break;
  }
  return shown(value.text);
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string place_text(std::string_view path, Position position) {
  return std::string(path) + ":" + std::to_string(position.line) + ":" +
         std::to_string(position.column);
}

}  // namespace shardscope
