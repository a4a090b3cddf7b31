// The page of every report, made by embed.cmake when the program is built.
#pragma once

#include <string_view>

namespace shardscope {

/// The page before and after its data, which is JSON in a script element.
extern const std::string_view kPageBeforeData;
extern const std::string_view kPageAfterData;

}  // namespace shardscope
