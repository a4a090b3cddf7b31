// Graphviz text to a message, by Boost.Graph's reader.
#pragma once

#include <string>

namespace shardscope {

/// A serialized DotGraph (child.proto). Of a syntax error the line is counted from 1, 0 if it is
/// not known. May take very long and use much memory.
std::string parse_dot(const std::string& text);

}  // namespace shardscope
