#include "sim/files/strict_json.h"

#include <json/json.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "sim/files/json_syntax.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

/// A parsed value takes about a hundred times the memory of its text, so that a text of some
/// hundred megabytes could otherwise exhaust the machine.
constexpr std::ptrdiff_t kMostValues = 2'000'000;

constexpr int kDeepestNesting = 8;

/// Everything about the text that JsonCpp does not refuse by itself or not cheaply.
std::optional<std::string> check_text(std::string_view text) {
  const auto separators =
      std::count_if(text.begin(), text.end(), [](char c) { return c == ',' || c == ':'; });
  if (text.find('\0') != std::string_view::npos || !is_utf8(text)) {
    return "is not UTF-8 text";
  }
  if (separators > kMostValues) {
    return "holds more than " + std::to_string(kMostValues) + " values";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> parse_strict_json(std::string_view text, Json::Value& value) {
  if (auto problem = check_text(text)) {
    return problem;
  }
  Json::CharReaderBuilder builder;
  Json::CharReaderBuilder::strictMode(&builder.settings_);
  builder["stackLimit"] = kDeepestNesting;
  const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
  std::string error;
  try {
    if (reader->parse(text.data(), text.data() + text.size(), &value, &error)) {
      return std::nullopt;
    }
    const std::vector<JsonSyntaxError> errors = json_syntax_errors(error);
    std::string problem = "is not valid JSON: ";
    return errors.empty() ? problem
                          : problem + errors.front().message + " (line " +
                                std::to_string(errors.front().line) + ", column " +
                                std::to_string(errors.front().column) + ")";
  } catch (const Json::Exception&) {
    return "is nested too deeply; at most " + std::to_string(kDeepestNesting) + " levels";
  }
}

std::string json_text(const Json::Value& value) {
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "";
  std::string text = Json::writeString(builder, value);
  if (text.size() > 60) {
    text = text.substr(0, 57) + "...";
  }
  return printable(text);
}

}  // namespace shardscope
