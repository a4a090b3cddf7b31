// Joins the shards of a sweep.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/sweep/store.h"
#include "sim/sweep/sweep.h"

namespace shardscope {

/// All shards of one sweep, each complete.
struct Shards {
  Sweep whole;
  std::vector<StorePart> parts;
};

/// Reads the folders of all shards. Nothing, and every reason with its folder's name, if they are
/// not what a sweep was divided into: of another sweep, there twice, missing, not finished.
std::optional<Shards> read_shards(const std::vector<std::string>& folders,
                                  std::vector<std::string>& problems);

}  // namespace shardscope
