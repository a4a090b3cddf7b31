// JSON for a script element: short, and free of what could end the element.
#pragma once

#include <functional>
#include <string>

namespace Json {
class Value;
}

namespace shardscope {

/// Appends the value without white space, '<' as \u003c. Doubles have as few digits as bring them
/// back exactly; NaN and infinity become null, bytes that are not UTF-8 become U+FFFD.
void append_script_json(const Json::Value& value, std::string& text);

/// The same of an object, whose members' values `append` appends.
void append_script_object(
    const Json::Value& object, std::string& text,
    const std::function<void(const std::string& name, const Json::Value& value)>& append);

}  // namespace shardscope
