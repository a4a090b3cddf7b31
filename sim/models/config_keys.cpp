#include "sim/models/config_keys.h"

#include <json/json.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "sim/files/strict_json.h"
#include "sim/text/fault.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

/// Keys of transformers that are near to others and without effect here.
constexpr std::array<std::string_view, 3> kPassedOver = {"activation_dropout",
                                                         "tie_encoder_decoder", "type_vocab_size"};

bool is_whole(const Json::Value& value) {
  return value.type() == Json::intValue || value.type() == Json::uintValue;
}

}  // namespace

const Json::Value* ConfigKeys::find(const std::string& key) {
  asked_.insert(key);
  return root_.find(key.data(), key.data() + key.size());
}

std::size_t ConfigKeys::line_of(const Json::Value& value) const {
  return lines_.place(static_cast<std::size_t>(value.getOffsetStart())).line;
}

std::string ConfigKeys::written(const Json::Value& value) const {
  if (value.isArray() || value.isObject()) {
    return json_text(value);  // On one line, whatever the file has.
  }
  const auto begin = static_cast<std::size_t>(value.getOffsetStart());
  return shown(text_.substr(begin, static_cast<std::size_t>(value.getOffsetLimit()) - begin));
}

bool ConfigKeys::has(const std::string& key) {
  const Json::Value* value = find(key);
  return value != nullptr && !value->isNull();
}

bool ConfigKeys::is_absent(const std::string& key) { return find(key) == nullptr; }

std::optional<std::size_t> ConfigKeys::optional_size(const std::string& key, std::size_t most) {
  if (!has(key)) {
    return std::nullopt;
  }
  const Json::Value& value = *find(key);
  if (!is_whole(value) || !value.isUInt64() || value.asUInt64() == 0 || value.asUInt64() > most) {
    refuse(key, "a whole number from 1 to " + std::to_string(most));
    return std::nullopt;
  }
  return value.asUInt64();
}

std::size_t ConfigKeys::size(const std::string& key, std::size_t missing, std::size_t most) {
  if (is_absent(key)) {
    note(key + " is not given: " + std::to_string(missing) + ", the default in transformers");
    return missing;
  }
  if (!has(key)) {
    refuse(key, "a whole number from 1 to " + std::to_string(most));
  }
  return optional_size(key, most).value_or(missing);
}

bool ConfigKeys::flag(const std::string& key, bool missing) {
  const Json::Value* value = find(key);
  if (value == nullptr) {
    return missing;
  }
  if (!value->isBool()) {
    refuse(key, "true or false");
    return missing;
  }
  return value->asBool();
}

bool ConfigKeys::dropout(const std::string& key, double missing) {
  const Json::Value* value = find(key);
  if (value == nullptr) {
    return missing > 0;
  }
  if (!value->isNumeric() || !(value->asDouble() >= 0 && value->asDouble() < 1)) {
    refuse(key, "a number from 0 to below 1");
    return missing > 0;
  }
  return value->asDouble() > 0;
}

std::string ConfigKeys::choice(const std::string& key, const std::string& missing,
                               const std::vector<std::string>& allowed) {
  const Json::Value* value = find(key);
  if (value == nullptr) {
    return missing;
  }
  std::string text = value->isString() ? value->asString() : "";
  if (std::find(allowed.begin(), allowed.end(), text) == allowed.end()) {
    faulty_.insert(key);
    faults_.add(line_of(*value), key, written(*value) + " is not allowed", one_of(allowed),
                nearest_name(text, allowed));
    return missing;
  }
  return text;
}

std::string ConfigKeys::either(const std::string& key, const std::string& other_name) {
  const Json::Value* value = find(key);
  const Json::Value* other = find(other_name);
  if (value != nullptr && other != nullptr && *value != *other) {
    fault(other_name, written(*other) + " is not " + key + ", which is another name of it",
          written(*value));
  }
  return value == nullptr && other != nullptr ? other_name : key;
}

void ConfigKeys::refuse(const std::string& key, std::string allowed) {
  const Json::Value* value = find(key);
  fault(key, (value == nullptr ? "no value" : written(*value)) + " is not allowed",
        std::move(allowed));
}

void ConfigKeys::fault(const std::string& key, std::string problem, std::string allowed) {
  const Json::Value* value = find(key);
  faulty_.insert(key);
  faults_.add(value == nullptr ? 0 : line_of(*value), key, std::move(problem), std::move(allowed));
}

bool ConfigKeys::are_sound(std::initializer_list<std::string> keys) const {
  return std::none_of(keys.begin(), keys.end(),
                      [&](const std::string& key) { return faulty_.contains(key); });
}

void ConfigKeys::check_spelling() {
  std::vector<std::string> absent;
  std::copy_if(asked_.begin(), asked_.end(), std::back_inserter(absent),
               [&](const std::string& key) { return !root_.isMember(key); });
  for (auto member = root_.begin(); member != root_.end(); ++member) {
    const std::string key = member.name();
    const bool known =
        asked_.contains(key) || std::count(kPassedOver.begin(), kPassedOver.end(), key) != 0;
    const std::string nearest = known ? "" : nearest_name(key, absent);
    if (!nearest.empty()) {
      faults_.add(line_of(*member), shown(key), "unknown field", {}, nearest);
    }
  }
}

}  // namespace shardscope
