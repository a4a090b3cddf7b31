// Configurations that resemble DeepSpeed's or Accelerate's and mean something else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/frameworks/config_value.h"

namespace shardscope {

/// Whose files a reader takes.
enum class ConfigFormat { deepspeed, accelerate };

/// Adds a fault that names the file's real format and says what to do, if a key at its top shows
/// that it is not `expected`. Whether it does.
bool refuse_other_dialect(const ConfigValue& file, ConfigFormat expected, const std::string& path,
                          std::vector<Fault>& faults);

/// The same of a text that could not be parsed, by its quoted keys.
bool refuse_other_dialect(std::string_view text, ConfigFormat expected, const std::string& path,
                          std::vector<Fault>& faults);

}  // namespace shardscope
