// Which fields of a scenario are quantities: the schema has them as strings.
#pragma once

#include <optional>
#include <string_view>

#include "sim/text/quantity.h"

namespace shardscope {

/// What the field at `path` measures; nothing if it is no quantity.
std::optional<Dimension> dimension_of(std::string_view path);

}  // namespace shardscope
