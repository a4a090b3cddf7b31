// SimGrid's own loader, in a process of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace shardscope {

class LoadedPlatform;

struct SimgridLoad {
  std::string path = {};
  std::vector<std::string> routed_hosts = {};  ///< Those whose routes are asked for.
  std::size_t most_kept = 0;       ///< Routes of so many hosts are returned, of more only checked.
  std::size_t most_all_pairs = 0;  ///< All pairs of so many hosts are asked for.
};

/// What became of it.
struct SimgridOutcome {
  bool ok = false;
  std::string failure;   ///< What SimGrid said, or how it ended, in words.
  std::size_t line = 0;  ///< Of the failure, if SimGrid said it.
  std::string after;     ///< The last host or link that was made before it crashed.
  std::string at_route;  ///< The pair it crashed at, if it did: "from "a" to "b"".
  std::vector<std::string> warnings;
};

/// Loads in a child process into `platform`.
SimgridOutcome load_in_child(const SimgridLoad& load, LoadedPlatform& platform);

}  // namespace shardscope
