// Lists of ranks as users write them: "3", "0-3,7".
#pragma once

#include <string>
#include <vector>

namespace shardscope {

struct RankList {
  std::vector<int> ranks;  ///< In the order given.
  std::string problem;     ///< "is no list of ranks"; empty if it is one.
};

/// Of ranks 0 to world_size - 1. Spaces may stand beside the commas.
RankList parse_rank_list(const std::string& text, int world_size);

}  // namespace shardscope
