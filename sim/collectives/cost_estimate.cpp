#include "sim/collectives/cost_estimate.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace shardscope {
namespace {

// Paths between ranks, each asked for once.
class KnownPaths {
 public:
  explicit KnownPaths(const ClusterPaths& paths) : paths_(paths) {}

  const Path& path(int from, int to) {
    const std::uint64_t key = static_cast<std::uint64_t>(from) << 32 | static_cast<unsigned>(to);
    const auto known = known_.find(key);
    return known != known_.end() ? known->second
                                 : known_.emplace(key, paths_.path(from, to)).first->second;
  }

 private:
  const ClusterPaths& paths_;
  std::unordered_map<std::uint64_t, Path> known_;
};

}  // namespace

double estimated_seconds(const Schedule& schedule, const RankGroup& group,
                         const ClusterPaths& paths) {
  constexpr int kMostRounds = 64;
  const int rounds = schedule.rounds();
  const int looked_at = std::min(rounds, kMostRounds);
  KnownPaths known(paths);
  std::vector<double> loads(paths.links().size());
  std::vector<std::size_t> loaded;
  Round round;
  double seconds = 0;
  for (int i = 0; i < looked_at; ++i) {
    const int index = static_cast<int>(static_cast<std::int64_t>(i) * rounds / looked_at);
    double latency_s = 0;
    double transfer_s = 0;
    for (int rank = 0; rank < group.size; ++rank) {
      schedule.round(rank, index, round);
      for (const Transfer& message : round.sends()) {
        const Path& path = known.path(group.world_rank(rank), group.world_rank(message.peer));
        const auto bytes = static_cast<double>(round.elements(message));
        latency_s = std::max(latency_s, path.latency_s);
        for (const std::size_t link : path.links) {
          if (loads[link] == 0) {
            loaded.push_back(link);
          }
          loads[link] += bytes;
          transfer_s =
              std::max(transfer_s, loads[link] / paths.links()[link].bandwidth_bytes_per_s);
        }
      }
    }
    seconds += latency_s + transfer_s;
    for (const std::size_t link : loaded) {
      loads[link] = 0;
    }
    loaded.clear();
  }
  return looked_at == 0 ? 0 : seconds * rounds / looked_at;
}

}  // namespace shardscope
