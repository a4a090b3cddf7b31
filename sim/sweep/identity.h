// sweep.json: which sweep the results beside it belong to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/sweep/sweep.h"

namespace shardscope {

/// The file's text; a function of the sweep alone.
std::string identity_text(const Sweep& sweep);

/// The sweep that a text of identity_text() describes; nothing, and why, if it is no such text.
std::optional<Sweep> parse_identity(const std::string& text, std::string& problem);

/// 16 hexadecimal digits that name what is swept: all of the sweep but the shard.
std::string sweep_digest(const Sweep& sweep);

/// In what two sweeps differ, shards left aside, in words such as "strategies: DDP there, ZERO1
/// here"; where their scenarios do, the fields that --set gave differently, if there are any. Empty
/// if they are the same.
std::vector<std::string> differences(const Sweep& there, const Sweep& here);

}  // namespace shardscope
