#include "sim/models/hf_config.h"

#include <json/json.h>

#include <utility>

#include "sim/files/strict_json.h"
#include "sim/models/config_keys.h"
#include "sim/models/hf_families.h"
#include "sim/text/nearest_name.h"
#include "sim/text/text_file.h"

namespace shardscope {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::vector<std::string> model_types() {
  std::vector<std::string> names;
  for (const HfFamily& family : hf_families()) {
    names.emplace_back(family.model_type);
  }
  return names;
}

const HfFamily* find_family(const Json::Value& root, std::string_view text, FaultList& faults) {
  const std::vector<std::string> names = model_types();
  if (!root.isMember("model_type")) {
    faults.add(0, "model_type", "missing", one_of(names));
    return nullptr;
  }
  const Json::Value& type = root["model_type"];
  const std::string type_name = type.isString() ? type.asString() : "";
  for (const HfFamily& family : hf_families()) {
    if (family.model_type == type_name) {
      return &family;
    }
  }
  const std::string_view missing = missing_for(type_name);
  const std::string what = missing.empty() ? "" : ": it needs " + std::string(missing);
  const std::size_t line =
      LineIndex(text).place(static_cast<std::size_t>(type.getOffsetStart())).line;
  faults.add(line, "model_type", json_text(type) + " is not modelled" + what, one_of(names),
             missing.empty() ? nearest_name(type_name, names) : "");
  return nullptr;
}

/// Keys of every family that make another model of it.
void check_common(ConfigKeys& keys, const Json::Value& root, const HfFamily& family) {
  const std::string allowed = "[\"" + std::string(family.architecture) + "\"]";
  if (keys.has("architectures")) {
    const Json::Value& classes = root["architectures"];
    if (!classes.isArray() || classes.size() != 1 ||
        classes[0] != std::string(family.architecture)) {
      keys.refuse("architectures", allowed);
    }
  }
  if (keys.flag("is_encoder_decoder", false)) {
    keys.refuse("is_encoder_decoder", "false; an encoder is not modelled");
  }
  if (keys.has("pruned_heads") && !root["pruned_heads"].empty()) {
    keys.refuse("pruned_heads", "none; heads that are left out are not modelled");
  }
  if (keys.has("quantization_config")) {
    keys.note("quantization_config is not modelled: all weights are of the training's type");
  }
  if (keys.has("auto_map")) {
    keys.note("auto_map is not followed: the model is taken for transformers' own " +
              std::string(family.model_type));
  }
}

void set_sequence(ConfigKeys& keys, const HfFamily& family, std::size_t tokens,
                  TransformerSpec& spec) {
  const std::string other(family.other_positions_key);
  const std::string own(family.positions_key);
  const std::string key =
      !other.empty() && keys.is_absent(own) && !keys.is_absent(other) ? other : own;
  const std::size_t longest = spec.sequence;
  spec.sequence = tokens == 0 ? longest : tokens;
  if (tokens <= longest || !keys.are_sound({key})) {
    return;
  }
  const std::string rows = "rows of " + std::to_string(tokens) + " tokens";
  if (spec.positions != 0 || tokens > kMostTokens) {
    const std::size_t most = spec.positions != 0 ? longest : kMostTokens;
    keys.fault(key, rows + " are longer than the model allows",
               "at most " + std::to_string(most) + " tokens");
  } else {
    keys.note(rows + " are longer than " + key + ", " + std::to_string(longest) +
              ", for which the model is made");
  }
}

}  // namespace

std::optional<HfModel> read_hf_config(const std::filesystem::path& path, std::size_t sequence,
                                      std::vector<Fault>& faults) {
  const std::optional<std::string> content = read_text_file(path.string(), faults);
  if (!content.has_value()) {
    return std::nullopt;
  }
  std::string_view text = *content;
  text.remove_prefix(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  FaultList list(path.string(), faults);
  Json::Value root;
  if (const auto problem = parse_strict_json(text, root)) {
    list.add(0, {}, *problem);
    return std::nullopt;
  }
  if (!root.isObject()) {
    list.add(0, {}, json_text(root) + " is no configuration", "a JSON object");
    return std::nullopt;
  }
  const HfFamily* family = find_family(root, text, list);
  if (family == nullptr) {
    return std::nullopt;
  }
  HfModel model;
  ConfigKeys keys(root, text, list, model.notes);
  check_common(keys, root, *family);
  model.spec = family->read(keys);
  model.spec.architecture = family->model_type;
  set_sequence(keys, *family, sequence, model.spec);
  keys.check_spelling();
  return list.empty() ? std::optional(std::move(model)) : std::nullopt;
}

}  // namespace shardscope
