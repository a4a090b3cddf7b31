#include <utility>

#include "sim/frameworks/config_value.h"
#include "sim/frameworks/deepspeed_settings.h"
#include "sim/frameworks/dialects.h"
#include "sim/frameworks/framework_config.h"
#include "sim/frameworks/key_table.h"
#include "sim/text/text_file.h"

namespace shardscope {

std::optional<ConfigFile> read_config_file(const std::filesystem::path& path,
                                           std::vector<Fault>& faults) {
  std::optional<std::string> text = read_text_file(path.string(), faults);
  return text ? std::optional(ConfigFile{path, std::move(*text)}) : std::nullopt;
}

std::optional<FrameworkConfig> read_deepspeed_config(const ConfigFile& config,
                                                     const ConfigContext& context,
                                                     std::vector<Fault>& faults) {
  const std::string name = config.path.string();
  std::vector<Fault> syntax;
  const std::optional<ConfigValue> file = parse_json_config(config.text, name, syntax);
  if (!file) {
    // What is no JSON at all may be another tool's YAML.
    if (!refuse_other_dialect(config.text, ConfigFormat::deepspeed, name, faults)) {
      faults.insert(faults.end(), syntax.begin(), syntax.end());
    }
    return std::nullopt;
  }
  if (refuse_other_dialect(*file, ConfigFormat::deepspeed, name, faults)) return std::nullopt;
  ConfigReading reading(name, faults);
  read_deepspeed_settings(*file, context, reading);
  return reading.finish();
}

}  // namespace shardscope
