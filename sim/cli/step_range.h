// Steps as the command line names them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace shardscope {

/// First and last of "2..3" or "2", from 1 on and not reversed; none if it is something else.
std::optional<std::pair<std::int64_t, std::int64_t>> parse_steps(std::string_view text);

}  // namespace shardscope
