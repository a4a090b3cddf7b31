// The files that come with the program: scenario.proto, starter.textproto and platforms/.
#pragma once

#include <filesystem>
#include <optional>

namespace shardscope {

/// The folder ../share/shardscope beside the folder of the running program, in the build tree and
/// wherever the program is installed; nothing if it is not there.
std::optional<std::filesystem::path> find_data_dir();

}  // namespace shardscope
