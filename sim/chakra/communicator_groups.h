// Which ranks a collective is among, as ASTRA-sim names them: by a number that a file of its own
// lists the ranks of.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace shardscope {

class RankRecording;
class RecordedGroup;

class CommunicatorGroups {
 public:
  /// Of one step, given by the recordings of all its ranks. All ranks together are no group, nor is
  /// a single one.
  explicit CommunicatorGroups(const std::vector<const RankRecording*>& ranks);

  bool empty() const { return numbers_.empty(); }

  /// 1, 2, ..., the same in the files of all ranks; groups of neighbours come first. 0 for all
  /// ranks.
  int number(const RecordedGroup& group) const;

  /// {"1": [0, 1], ...}: ASTRA-sim's --comm-group-configuration.
  std::string json() const;

 private:
  using Key = std::tuple<int, int, int>;  // Stride, first rank, size.
  static Key key(const RecordedGroup& group);

  std::map<Key, int> numbers_;
};

}  // namespace shardscope
