// The files of a Chakra trace: one for each rank, as ASTRA-sim opens them, and one that lists the
// groups of ranks, if there are any.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace shardscope {

class RunResult;
struct ChakraAbout;

/// PREFIX.0.et, PREFIX.1.et, ...
std::string chakra_path(const std::string& prefix, int rank);

/// PREFIX.groups.json.
std::string chakra_groups_path(const std::string& prefix);

/// Every path that a run of so many ranks may write.
std::vector<std::string> chakra_paths(const std::string& prefix, int world_size);

struct ChakraResult {
  std::optional<std::string> error;  ///< With the path; then there are no files.
  bool has_groups = false;           ///< Whether PREFIX.groups.json was written.
  bool has_broadcasts = false;
};

/// Writes the last step that was recorded of a completed run: all files or none, except that a file
/// which cannot take its name leaves none of the old ones either. Aborts if no step was recorded.
ChakraResult write_chakra(const std::string& prefix, const RunResult& run,
                          const ChakraAbout& about);

}  // namespace shardscope
