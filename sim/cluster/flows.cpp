#include "sim/cluster/flows.h"

#include <algorithm>
#include <deque>
#include <simgrid/s4u/Engine.hpp>
#include <utility>

namespace shardscope {

namespace {

double now() { return simgrid::s4u::Engine::get_clock(); }

}  // namespace

// The ranks of a group at one collective.
class Flows::Meeting final : public NetworkEvents::Alarm {
 public:
  Meeting(Flows& flows, int size) : flows_(flows), ranks_(static_cast<std::size_t>(size)) {}

  /// Whether it was the last one.
  bool join(Collective& collective, RankTraffic& traffic, std::function<void()> over) {
    const int rank = collective.group().group_rank(traffic.rank());
    ranks_[static_cast<std::size_t>(rank)] = {&collective, &traffic, std::move(over)};
    return ++here_ == ranks_.size();
  }

  void begin() { begin_stage(); }

  // A stage is over.
  void rings() override {
    ++stage_;
    if (stage_ < schedule().stages()) {
      begin_stage();
    } else {
      end();
    }
  }

 private:
  struct Rank {
    Collective* collective = nullptr;
    RankTraffic* traffic = nullptr;
    std::function<void()> over;
  };

  // Flows of a rank that are alike.
  struct Bundle {
    Flow flow;
    int to = 0;
    int times = 0;
  };

  class Edge final : public NetworkEvents::Transfer {
   public:
    Edge(Meeting& meeting, double latency_s) : meeting_(meeting), latency_s_(latency_s) {}

    void left() override { meeting_.end_edge(now() + latency_s_); }

   private:
    Meeting& meeting_;
    double latency_s_;
  };

  const Schedule& schedule() const { return ranks_.front().collective->schedule(); }

  void begin_stage() {
    edges_.clear();
    stage_end_s_ = now();
    pending_ = 1;  // Until all have begun.
    std::vector<Flow> flows;
    std::vector<Bundle> bundles;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const Collective& collective = *ranks_[rank].collective;
      const std::size_t bytes = size_of(collective.data().dtype());
      collective.schedule().stage(static_cast<int>(rank), stage_, flows);
      const int from = ranks_[rank].traffic->rank();
      bundles.clear();
      for (const Flow& flow : flows) {
        const int to = collective.group().world_rank(flow.peer);
        ranks_[rank].traffic->sent(collective.purpose(), to, flow.elements * bytes);
        ranks_[static_cast<std::size_t>(flow.peer)].traffic->received(collective.purpose(),
                                                                      flow.elements * bytes);
        add(flow, to, bundles);
      }
      for (const Bundle& bundle : bundles) {
        ++pending_;
        flows_.events_.transfer(
            *flows_.platform_.host(from), *flows_.platform_.host(bundle.to),
            bundle.flow.carried * bytes,
            edges_.emplace_back(*this, bundle.flow.rounds * flows_.latency_s(from, bundle.to)),
            bundle.times);
      }
    }
    end_edge(now());
  }

  // Rings of several channels share many of their edges. What is alike on one of them is a single
  // transfer: SimGrid's cost per end grows with what is under way.
  void add(const Flow& flow, int to, std::vector<Bundle>& bundles) const {
    const auto same = std::find_if(bundles.begin(), bundles.end(), [&](const Bundle& bundle) {
      return bundle.to == to && bundle.flow.carried == flow.carried &&
             bundle.flow.rounds == flow.rounds;
    });
    if (same != bundles.end() && flows_.platform_.has_steady_links()) {
      ++same->times;
    } else {
      bundles.push_back({flow, to, 1});
    }
  }

  void end_edge(double end_s) {
    stage_end_s_ = std::max(stage_end_s_, end_s);
    if (--pending_ == 0) {
      flows_.events_.at(stage_end_s_, *this);
    }
  }

  void end() {
    if (ranks_.front().collective->data().is_real()) {
      std::vector<Collective*> collectives;
      for (const Rank& rank : ranks_) {
        collectives.push_back(rank.collective);
      }
      Collective::run_together(collectives);
    }
    const std::vector<Rank> ranks = std::move(ranks_);
    std::erase_if(flows_.under_way_, [this](const auto& other) { return other.get() == this; });
    for (const Rank& rank : ranks) {  // This is gone.
      rank.over();
    }
  }

  Flows& flows_;
  std::vector<Rank> ranks_;  // By rank in the group, as they come.
  std::size_t here_ = 0;
  int stage_ = 0;
  std::deque<Edge> edges_;  // Of the stage; they stay where they are.
  std::size_t pending_ = 0;
  double stage_end_s_ = 0;
};

Flows::Flows(const Platform& platform, NetworkEvents& events)
    : platform_(platform), events_(events) {}

Flows::~Flows() = default;

void Flows::join(Collective& collective, RankTraffic& traffic, std::function<void()> over) {
  const RankGroup& group = collective.group();
  std::unique_ptr<Meeting>& met = meetings_[{group.first, group.stride, group.size}];
  if (met == nullptr) {
    met = std::make_unique<Meeting>(*this, group.size);
  }
  if (met->join(collective, traffic, std::move(over))) {
    // The group's next collective is another meeting.
    under_way_.push_back(std::exchange(met, nullptr));
    under_way_.back()->begin();
  }
}

double Flows::latency_s(int from, int to) {
  const std::uint64_t key = static_cast<std::uint64_t>(from) << 32 | static_cast<unsigned>(to);
  const auto known = latencies_s_.find(key);
  return known != latencies_s_.end()
             ? known->second
             : latencies_s_.emplace(key, platform_.path(from, to).latency_s).first->second;
}

}  // namespace shardscope
