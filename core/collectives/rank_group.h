// The ranks of a process group, as an arithmetic progression.
#pragma once

namespace shardscope {

/// Ranks first, first + stride, ...: those that take part in a collective, by their rank in it.
struct RankGroup {
  int first = 0;
  int stride = 1;
  int size = 1;

  int world_rank(int group_rank) const { return first + group_rank * stride; }
  int group_rank(int world_rank) const { return (world_rank - first) / stride; }
};

}  // namespace shardscope
