#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

#include "sim/frameworks/config_value.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

Position position_of(const YAML::Mark& mark) {
  return mark.is_null() ? Position{} : Position{.line = mark.line + 1, .column = mark.column + 1};
}

bool is_one_of(std::string text, std::initializer_list<std::string_view> words) {
  text = lower_case(std::move(text));
  return std::find(words.begin(), words.end(), text) != words.end();
}

// Of a scalar that is not quoted: YAML 1.1's words for truth and nothing, and numbers.
void read_plain(ConfigValue& value) {
  const char* const begin = value.text.data();
  const char* const end = begin + value.text.size();
  const auto number = std::from_chars(begin, end, value.number);
  if (is_one_of(value.text, {"", "~", "null"})) {
    value.kind = ConfigValue::Kind::null;
  } else if (is_one_of(value.text, {"true", "yes", "on"})) {
    value.kind = ConfigValue::Kind::boolean;
    value.boolean = true;
  } else if (is_one_of(value.text, {"false", "no", "off"})) {
    value.kind = ConfigValue::Kind::boolean;
  } else if (number.ec == std::errc() && number.ptr == end && std::isfinite(value.number)) {
    value.kind = ConfigValue::Kind::number;
  } else {
    value.kind = ConfigValue::Kind::text;
  }
}

class Tree {
 public:
  Tree(const std::string& path, std::vector<Fault>& faults) : path_(path), faults_(faults) {}

  // Aliases could make a small file endless: values are counted as they are copied.
  bool read(const YAML::Node& node, int depth, ConfigValue& value) {
    value.position = position_of(node.Mark());
    if (depth > kDeepestConfig || ++count_ > kMostConfigValues) {
      add(value.position, {}, "is nested too deeply or holds too many values",
          "at most " + std::to_string(kDeepestConfig) + " levels and " +
              std::to_string(kMostConfigValues) + " values");
      return false;
    }
    if (node.IsMap()) return read_members(node, depth, value);
    if (node.IsSequence()) {
      value.kind = ConfigValue::Kind::list;
      for (const YAML::Node& element : node) {
        if (!read(element, depth + 1, value.elements.emplace_back())) return false;
      }
    } else if (node.IsScalar()) {
      value.text = node.Scalar();
      value.kind = ConfigValue::Kind::text;
      if (node.Tag() != "!") read_plain(value);
    }
    return true;
  }

 private:
  bool read_members(const YAML::Node& node, int depth, ConfigValue& value) {
    value.kind = ConfigValue::Kind::object;
    for (const auto& member : node) {
      const Position position = position_of(member.first.Mark());
      if (!member.first.IsScalar()) {
        add(position, {}, "has a key that is no word", "key: value");
        return false;
      }
      const std::string& key = member.first.Scalar();
      if (value.find(key) != nullptr) {
        add(position, shown(key), "is given twice", "each key once");
        continue;
      }
      value.members.push_back({.key = key, .value = {}});
      if (!read(member.second, depth + 1, value.members.back().value)) return false;
    }
    return true;
  }

  void add(Position position, const std::string& field, const std::string& problem,
           const std::string& allowed) {
    faults_.push_back({.place = place_text(path_, position),
                       .field = field,
                       .problem = problem,
                       .allowed = allowed,
                       .nearest = {}});
  }

  const std::string& path_;
  std::vector<Fault>& faults_;
  std::size_t count_ = 0;
};

// Counts nothing and keeps nothing: for what stands after a document.
class Skip : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// YAML::LoadAll would tell as well, but never ends where a bracket stands after a document.
bool goes_on_after_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Skip skip;
  return parser.HandleNextDocument(skip) && parser.HandleNextDocument(skip);
}

}  // namespace

std::optional<ConfigValue> parse_yaml_config(const std::string& text, const std::string& path,
                                             std::vector<Fault>& faults) {
  const auto refuse = [&](const std::string& place, const std::string& problem,
                          const std::string& allowed) {
    faults.push_back(
        {.place = place, .field = {}, .problem = problem, .allowed = allowed, .nearest = {}});
    return std::nullopt;
  };
  try {
    const YAML::Node document = YAML::Load(text);
    if (document.IsNull()) return refuse(path, "is empty", "keys and values: key: value");
    if (goes_on_after_document(text)) {
      return refuse(path, "goes on after its first document", "one document");
    }
    ConfigValue value;
    const std::size_t faults_before = faults.size();
    if (!Tree(path, faults).read(document, 1, value) || faults.size() > faults_before) {
      return std::nullopt;
    }
    if (value.kind != ConfigValue::Kind::object) {
      return refuse(path, value_text(value) + " is no configuration", "key: value");
    }
    return value;
  } catch (const YAML::Exception& error) {
    return refuse(place_text(path, position_of(error.mark)), "is not YAML: " + printable(error.msg),
                  {});
  }
}

}  // namespace shardscope
