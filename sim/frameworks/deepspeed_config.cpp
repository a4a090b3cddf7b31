#include "sim/frameworks/config_value.h"
#include "sim/frameworks/deepspeed_settings.h"
#include "sim/frameworks/dialects.h"
#include "sim/frameworks/framework_config.h"
#include "sim/frameworks/key_table.h"
#include "sim/text/text_file.h"

namespace shardscope {

std::optional<FrameworkConfig> read_deepspeed_config(const std::filesystem::path& path,
                                                     const ConfigContext& context,
                                                     std::vector<Fault>& faults) {
  const std::string name = path.string();
  const std::optional<std::string> text = read_text_file(name, faults);
  if (!text) return std::nullopt;
  std::vector<Fault> syntax;
  const std::optional<ConfigValue> file = parse_json_config(*text, name, syntax);
  if (!file) {
    // What is no JSON at all may be another tool's YAML.
    if (!refuse_other_dialect(*text, ConfigFormat::deepspeed, name, faults)) {
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
