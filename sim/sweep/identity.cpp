#include "sim/sweep/identity.h"

#include <json/json.h>

#include <map>
#include <memory>
#include <stdexcept>

#include "core/data/digest.h"
#include "sim/report/format.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

Json::Value strings(const std::vector<std::string>& texts) {
  Json::Value array(Json::arrayValue);
  for (const std::string& text : texts) {
    array.append(text);
  }
  return array;
}

std::vector<std::string> value_texts(const Axis& axis) {
  std::vector<std::string> texts;
  texts.reserve(axis.values.size());
  for (const AxisValue& value : axis.values) {
    texts.push_back(value.text);
  }
  return texts;
}

Json::Value texts_by_name(const std::map<std::string, std::string>& texts) {
  Json::Value object(Json::objectValue);
  for (const auto& [name, text] : texts) {
    object[name] = text;
  }
  return object;
}

Json::Value content_of(const Sweep& sweep) {
  Json::Value value;
  value["shardscope"] = sweep.version;
  value["scenario"] = sweep.name;
  value["scenario_digest"] = sweep.scenario_digest;
  value["arithmetic"] = sweep.arithmetic;
  value["strategies"] = strings(sweep.strategies);
  value["axes"] = Json::Value(Json::arrayValue);
  for (const Axis& axis : sweep.axes) {
    Json::Value& entry = value["axes"].append(Json::Value());
    entry["field"] = axis.field.path;
    entry["scale"] = std::string(name(axis.scale));
    entry["values"] = strings(value_texts(axis));
  }
  return value;
}

std::string text_of(const Json::Value& value, const std::string& indentation) {
  Json::StreamWriterBuilder builder;
  builder["indentation"] = indentation;
  return Json::writeString(builder, value);
}

// What parse_identity() meets where it expects something else ends as an exception.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string text_member(const Json::Value& object, const char* key) {
  if (!object.isObject() || !object[key].isString()) {
    throw Malformed(std::string("has no text \"") + key + "\"");
  }
  return object[key].asString();
}

std::vector<std::string> texts_member(const Json::Value& object, const char* key) {
  if (!object.isObject() || !object[key].isArray() || object[key].empty()) {
    throw Malformed(std::string("has no list \"") + key + "\"");
  }
  std::vector<std::string> texts;
  for (const Json::Value& text : object[key]) {
    if (!text.isString()) {
      throw Malformed(std::string("has more than texts in \"") + key + "\"");
    }
    texts.push_back(text.asString());
  }
  return texts;
}

std::map<std::string, std::string> texts_by_name_member(const Json::Value& object,
                                                        const char* key) {
  if (!object[key].isObject()) {
    throw Malformed(std::string("has no texts by name \"") + key + "\"");
  }
  std::map<std::string, std::string> texts;
  for (const std::string& name : object[key].getMemberNames()) {
    texts[name] = text_member(object[key], name.c_str());
  }
  return texts;
}

Axis read_axis(const Json::Value& value) {
  const std::string path = text_member(value, "field");
  const std::string scale_name = text_member(value, "scale");
  Fault fault;
  const std::optional<ScenarioField> field = find_scenario_field(path, fault);
  if (!field.has_value() || field->kind == FieldKind::block) {
    throw Malformed("has an axis over " + shardscope::quoted(path) + ", which is no field");
  }
  for (const Scale scale : {Scale::linear, Scale::log, Scale::category}) {
    if (scale_name == name(scale)) {
      return make_axis(*field, scale, texts_member(value, "values"));
    }
  }
  throw Malformed("has the unknown scale " + shardscope::quoted(scale_name));
}

Shard read_shard(const Json::Value& value) {
  const Json::Value& index = value["shard"];
  const Json::Value& count = value["shards"];
  if (!index.isUInt64() || !count.isUInt64() || index.asUInt64() < 1 ||
      index.asUInt64() > count.asUInt64() || count.asUInt64() > kMostPoints) {
    throw Malformed("has no shard");
  }
  return {static_cast<std::size_t>(index.asUInt64()), static_cast<std::size_t>(count.asUInt64())};
}

Sweep read_sweep(const Json::Value& value) {
  Sweep sweep;
  sweep.version = text_member(value, "shardscope");
  sweep.name = text_member(value, "scenario");
  sweep.scenario_digest = text_member(value, "scenario_digest");
  sweep.arithmetic = text_member(value, "arithmetic");
  sweep.strategies = texts_member(value, "strategies");
  sweep.shard = read_shard(value);
  sweep.set = texts_by_name_member(value, "set");
  if (!value["axes"].isArray()) {
    throw Malformed("has no axes");
  }
  std::size_t points = 1;
  for (const Json::Value& axis : value["axes"]) {
    sweep.axes.push_back(read_axis(axis));
    points *= sweep.axes.back().values.size();
    if (points > kMostPoints) {
      throw Malformed("has too many points");
    }
  }
  if (text_member(value, "digest") != sweep_digest(sweep)) {
    throw Malformed("has been changed: its digest is another");
  }
  return sweep;
}

std::string axis_words(const Axis& axis) {
  const std::string count = format_count(axis.values.size());
  return axis.field.path + " with " + count + (axis.values.size() == 1 ? " value" : " values") +
         " from " + axis.values.front().text + " to " + axis.values.back().text;
}

std::string set_words(const Sweep& sweep, const std::string& field) {
  const auto found = sweep.set.find(field);
  return found == sweep.set.end() ? "not set" : found->second;
}

std::vector<std::string> set_differences(const Sweep& there, const Sweep& here) {
  std::map<std::string, std::string> fields = there.set;
  fields.insert(here.set.begin(), here.set.end());
  std::vector<std::string> found;
  for (const auto& [field, value] : fields) {
    const std::string text_there = set_words(there, field);
    const std::string text_here = set_words(here, field);
    if (text_there != text_here) {
      found.push_back(field + ": " + text_there + " there, " + text_here + " here");
    }
  }
  return found;
}

std::string axes_words(const std::vector<Axis>& axes) {
  std::vector<std::string> words;
  words.reserve(axes.size());
  for (const Axis& axis : axes) {
    words.push_back(axis_words(axis));
  }
  return listed(words);
}

}  // namespace

std::string identity_text(const Sweep& sweep) {
  Json::Value value = content_of(sweep);
  value["digest"] = sweep_digest(sweep);
  value["points"] = Json::UInt64{sweep.point_count()};
  value["set"] = texts_by_name(sweep.set);
  value["shard"] = Json::UInt64{sweep.shard.index};
  value["shards"] = Json::UInt64{sweep.shard.count};
  return text_of(value, "  ") + "\n";
}

std::optional<Sweep> parse_identity(const std::string& text, std::string& problem) {
  Json::CharReaderBuilder builder;
  Json::CharReaderBuilder::strictMode(&builder.settings_);
  const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
  Json::Value value;
  std::string errors;
  try {
    if (!reader->parse(text.data(), text.data() + text.size(), &value, &errors)) {
      problem = "is not JSON";
      return std::nullopt;
    }
    return read_sweep(value);
  } catch (const Malformed& error) {
    problem = error.what();
  } catch (const Json::Exception&) {  // Nested too deeply.
    problem = "is not JSON of a sweep";
  }
  return std::nullopt;
}

std::string sweep_digest(const Sweep& sweep) {
  const std::string text = text_of(content_of(sweep), "");
  Fnv1a hash;
  hash.update(text.data(), text.size());
  return hash.hex();
}

std::vector<std::string> differences(const Sweep& there, const Sweep& here) {
  std::vector<std::string> found;
  const auto compare = [&](const std::string& what, const std::string& a, const std::string& b) {
    if (a != b) {
      found.push_back(what + ": " + a + " there, " + b + " here");
    }
  };
  compare("version", there.version, here.version);
  compare("scenario", there.name, here.name);
  compare("strategies", listed(there.strategies), listed(here.strategies));
  compare("axes", axes_words(there.axes), axes_words(here.axes));
  compare("arithmetic", there.arithmetic, here.arithmetic);
  if (there.scenario_digest != here.scenario_digest) {
    const std::vector<std::string> fields = set_differences(there, here);
    found.insert(found.end(), fields.begin(), fields.end());
    if (fields.empty()) {
      compare("content of the scenario, digest", there.scenario_digest, here.scenario_digest);
    }
  }
  if (found.empty() && sweep_digest(there) != sweep_digest(here)) {
    found.emplace_back("axes: the same ends, other values between them");
  }
  return found;
}

}  // namespace shardscope
