// The folder that a sweep's results are in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/sweep/store.h"
#include "sim/sweep/sweep.h"

namespace shardscope {

/// What a folder holds, by name.
std::string identity_path(const std::string& folder);
std::string points_path(const std::string& folder);

/// What is to be written to a folder: a sweep, the rest of one that is there, or joined shards.
enum class Use { sweep, resume, merge };

/// Whether results can go to the folder: to one that does not exist, an empty one, or one that
/// holds a sweep, to resume it. Else why not is appended to `problems`. Writes nothing.
void check_folder(const std::string& folder, Use use, std::vector<std::string>& problems);

/// Whether there is nothing at all in the folder, or no folder.
bool is_empty_or_absent(const std::string& folder);

/// What the folder holds of the sweep; nothing, if it does not exist or is empty. That it holds
/// another sweep, or lines that cannot be read, is appended to `problems`.
StoredLines read_stored(const std::string& folder, const Sweep& sweep,
                        std::vector<std::string>& problems);

/// The sweep whose results are in the folder; nothing, and why, if there is none.
std::optional<Sweep> read_folder(const std::string& folder, std::vector<std::string>& problems);

/// The rows of the sweep's shard that are not among the lines, ascending.
std::vector<std::size_t> missing_tasks(const Sweep& sweep, const std::vector<LinePlace>& lines);

/// Puts the lines in order and writes points.csv, findings.json, unless it is a shard, and
/// summary.txt from them. The summary; or nothing, and what went wrong.
std::optional<std::string> write_outputs(const std::string& folder, const Sweep& sweep,
                                         std::vector<std::string>& problems);

}  // namespace shardscope
