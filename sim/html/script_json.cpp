#include "sim/html/script_json.h"

#include <json/json.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string_view>

#include "sim/text/printable.h"

namespace shardscope {
namespace {

void append_escape(char character, std::string& text) {
  std::array<char, 8> escape{};
  std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(character));
  text += escape.data();
}

void append_text(std::string_view value, std::string& text) {
  text += '"';
  while (!value.empty()) {
    const std::size_t length = utf8_character_length(value);
    const char first = value.front();
    if (length == 0) {
      text += "\xef\xbf\xbd";
    } else if (length > 1) {
      text += value.substr(0, length);
    } else if (first < ' ' || first == '<' || first == '"' || first == '\\' || first == '\x7f') {
      append_escape(first, text);
    } else {
      text += first;
    }
    value.remove_prefix(length == 0 ? 1 : length);
  }
  text += '"';
}

void append_double(double value, std::string& text) {
  if (!std::isfinite(value)) {
    text += "null";
    return;
  }
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text.append(digits.data(), end);
}

void append_array(const Json::Value& array, std::string& text) {
  const char* separator = "";
  text += '[';
  for (const Json::Value& element : array) {
    text += separator;
    append_script_json(element, text);
    separator = ",";
  }
  text += ']';
}

}  // namespace

void append_script_json(const Json::Value& value, std::string& text) {
  switch (value.type()) {
    case Json::nullValue:
      text += "null";
      break;
    case Json::intValue:
      text += std::to_string(value.asInt64());
      break;
    case Json::uintValue:
      text += std::to_string(value.asUInt64());
      break;
    case Json::realValue:
      append_double(value.asDouble(), text);
      break;
    case Json::stringValue:
      append_text(value.asString(), text);
      break;
    case Json::booleanValue:
      text += value.asBool() ? "true" : "false";
      break;
    case Json::arrayValue:
      append_array(value, text);
      break;
    case Json::objectValue:
      append_script_object(value, text, [&](const std::string&, const Json::Value& member) {
        append_script_json(member, text);
      });
      break;
  }
}

void append_script_object(
    const Json::Value& object, std::string& text,
    const std::function<void(const std::string& name, const Json::Value& value)>& append) {
  const char* separator = "";
  text += '{';
  for (auto member = object.begin(); member != object.end(); ++member) {
    text += separator;
    append_text(member.name(), text);
    text += ':';
    append(member.name(), *member);
    separator = ",";
  }
  text += '}';
}

}  // namespace shardscope
