// JSON from files that are not trusted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace Json {
class Value;
}

namespace shardscope {

/// Parses exactly one JSON value: no comments, no key twice in an object, no NaN, nothing behind
/// it. Refused as well are texts that are not UTF-8, nest deeper than 8 levels or hold more than
/// two million values. What is wrong, as the rest of a sentence ("is not valid JSON: ..."), or
/// nothing.
std::optional<std::string> parse_strict_json(std::string_view text, Json::Value& value);

/// A value as JSON on one line fit for a terminal, cut after 57 bytes.
std::string json_text(const Json::Value& value);

}  // namespace shardscope
