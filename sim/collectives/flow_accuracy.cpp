#include "sim/collectives/flow_accuracy.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace shardscope {
namespace {

// A flow of a stage and what it crosses.
struct Edge {
  Path path;
  double carried = 0;
  double rounds = 0;
  double alone_bytes_per_s = 0;
  double share_bytes_per_s = 0;
};

class Stage {
 public:
  Stage(const Schedule& schedule, int index, std::size_t element_bytes,
        const std::vector<RankGroup>& groups, const ClusterPaths& paths)
      : element_bytes_(static_cast<double>(element_bytes)), paths_(paths) {
    std::vector<Flow> flows;
    for (int rank = 0; rank < schedule.world_size(); ++rank) {
      schedule.stage(rank, index, flows);
      for (const Flow& flow : flows) {
        for (const RankGroup& group : groups) {
          add(flow, group.world_rank(rank), group.world_rank(flow.peer));
        }
      }
    }
    share();
  }

  MessageTime time() const {
    MessageTime time;
    time.least_s = edges_.empty() ? 0 : std::numeric_limits<double>::infinity();
    for (const Edge& edge : edges_) {
      const auto at = [&](double bytes_per_s) {
        return edge.rounds * edge.path.latency_s + edge.carried / bytes_per_s;
      };
      time.least_s = std::min(time.least_s, at(edge.alone_bytes_per_s));
      time.most_s = std::max(time.most_s, at(edge.share_bytes_per_s));
    }
    return time;
  }

 private:
  struct Load {
    std::vector<std::size_t> edges;
    double free_bytes_per_s = 0;
    std::size_t open = 0;  // Edges whose share is not known yet.
  };

  double bandwidth(std::size_t link) const { return paths_.links()[link].bandwidth_bytes_per_s; }

  void add(const Flow& flow, int from, int to) {
    Edge edge;
    edge.path = paths_.path(from, to);
    edge.carried = element_bytes_ * static_cast<double>(flow.carried);
    edge.rounds = flow.rounds;
    edge.alone_bytes_per_s = std::numeric_limits<double>::infinity();
    for (const std::size_t link : edge.path.links) {
      edge.alone_bytes_per_s = std::min(edge.alone_bytes_per_s, bandwidth(link));
      Load& load = loads_[link];
      load.edges.push_back(edges_.size());
    }
    edges_.push_back(std::move(edge));
  }

  // Max-min fairness by filling: the links that give their edges least are full first.
  void share() {
    std::vector<Load*> open;
    for (auto& [link, load] : loads_) {
      load.free_bytes_per_s = bandwidth(link);
      load.open = load.edges.size();
      open.push_back(&load);
    }
    while (!open.empty()) {
      double least = std::numeric_limits<double>::infinity();
      for (const Load* load : open) {
        least = std::min(least, load->free_bytes_per_s / static_cast<double>(load->open));
      }
      std::vector<const Load*> full;
      for (const Load* load : open) {
        if (load->free_bytes_per_s / static_cast<double>(load->open) <= least * (1 + 1e-9)) {
          full.push_back(load);
        }
      }
      for (const Load* load : full) {
        for (const std::size_t edge : load->edges) {
          close(edges_[edge], least);
        }
      }
      std::erase_if(open, [](const Load* load) { return load->open == 0; });
    }
  }

  void close(Edge& edge, double share) {
    if (edge.share_bytes_per_s > 0) {
      return;
    }
    edge.share_bytes_per_s = share;
    for (const std::size_t link : edge.path.links) {
      Load& load = loads_.at(link);
      load.free_bytes_per_s = std::max(0.0, load.free_bytes_per_s - share);
      --load.open;
    }
  }

  double element_bytes_;
  const ClusterPaths& paths_;
  std::vector<Edge> edges_;
  std::unordered_map<std::size_t, Load> loads_;
};

}  // namespace

MessageTime message_time(const Schedule& schedule, std::size_t element_bytes,
                         const std::vector<RankGroup>& groups, const ClusterPaths& paths) {
  MessageTime sum;
  for (int index = 0; index < schedule.stages(); ++index) {
    const MessageTime stage = Stage(schedule, index, element_bytes, groups, paths).time();
    sum.least_s += stage.least_s;
    sum.most_s += stage.most_s;
  }
  return sum;
}

}  // namespace shardscope
