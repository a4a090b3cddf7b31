#include "sim/cluster/flow_exchange.h"

#include <algorithm>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <utility>
#include <vector>

namespace shardscope {
namespace s4u = simgrid::s4u;

struct FlowExchange::Meeting {
  explicit Meeting(int size)
      : collectives(static_cast<std::size_t>(size)),
        transports(static_cast<std::size_t>(size)),
        over(static_cast<std::size_t>(size)) {}

  std::size_t ranks() const { return collectives.size(); }

  // By rank in the group, as they come.
  std::vector<Collective*> collectives;
  std::vector<SimGridTransport*> transports;
  std::vector<std::function<void()>> over;
  std::size_t here = 0;
};

// The transfers of a stage, of which each is waited for in its turn. If the actor is killed before,
// those that are left are not freed: SimGrid would print a backtrace for each, and the process is
// about to end.
class FlowExchange::Transfers {
 public:
  ~Transfers() {
    for (std::size_t i = done_; i < all_.size(); ++i) {
      all_[i].communication.detach();
    }
  }

  void add(s4u::CommPtr communication, double latency_s) {
    all_.push_back({std::move(communication), latency_s});
  }

  /// When the last one is over, latencies included.
  double wait() {
    double end_s = 0;
    for (; done_ < all_.size(); ++done_) {
      all_[done_].communication->wait();
      end_s = std::max(end_s, all_[done_].communication->get_finish_time() + all_[done_].latency_s);
    }
    return end_s;
  }

 private:
  struct Transfer {
    s4u::CommPtr communication;
    double latency_s;
  };
  std::vector<Transfer> all_;
  std::size_t done_ = 0;
};

bool FlowExchange::takes(const Collective& collective) const {
  return collective.schedule().stages() > 0 && planner_.as_flows(collective);
}

void FlowExchange::join(Collective& collective, SimGridTransport& transport,
                        std::function<void()> over) {
  const RankGroup& group = collective.group();
  std::shared_ptr<Meeting>& met = meetings_[{group.first, group.stride, group.size}];
  if (met == nullptr) {
    met = std::make_shared<Meeting>(group.size);
  }
  const auto rank = static_cast<std::size_t>(group.group_rank(transport.rank()));
  met->collectives[rank] = &collective;
  met->transports[rank] = &transport;
  met->over[rank] = std::move(over);
  if (++met->here < met->ranks()) {
    return;
  }
  // The group's next collective is another meeting.
  s4u::Actor::create("collective", platform_.host(transport.rank()),
                     [this, meeting = std::exchange(met, nullptr)] { run(*meeting); })
      ->daemonize();
}

void FlowExchange::run(const Meeting& meeting) {
  for (int stage = 0; stage < meeting.collectives.front()->schedule().stages(); ++stage) {
    transfer(meeting, stage);
  }
  if (meeting.collectives.front()->data().is_real()) {
    Collective::run_together(meeting.collectives);
  }
  for (const std::function<void()>& over : meeting.over) {
    over();
  }
}

void FlowExchange::transfer(const Meeting& meeting, int stage) {
  Transfers transfers;
  std::vector<Flow> flows;
  double end_s = s4u::Engine::get_clock();
  for (std::size_t rank = 0; rank < meeting.ranks(); ++rank) {
    const Collective& collective = *meeting.collectives[rank];
    const std::size_t bytes = size_of(collective.data().dtype());
    collective.schedule().stage(static_cast<int>(rank), stage, flows);
    for (const Flow& flow : flows) {
      const int from = meeting.transports[rank]->rank();
      const int to = collective.group().world_rank(flow.peer);
      meeting.transports[rank]->count_sent(collective.purpose(), to, flow.elements * bytes);
      meeting.transports[static_cast<std::size_t>(flow.peer)]->count_received(
          collective.purpose(), flow.elements * bytes);
      const double latency = flow.rounds * latency_s(from, to);
      if (const std::uint64_t carried = flow.carried * bytes; carried > 0) {
        transfers.add(s4u::Comm::sendto_async(platform_.host(from), platform_.host(to), carried),
                      latency);
      } else {
        end_s = std::max(end_s, s4u::Engine::get_clock() + latency);
      }
    }
  }
  end_s = std::max(end_s, transfers.wait());
  s4u::this_actor::sleep_until(end_s);
}

double FlowExchange::latency_s(int from, int to) {
  const std::uint64_t key = static_cast<std::uint64_t>(from) << 32 | static_cast<unsigned>(to);
  const auto known = latencies_s_.find(key);
  return known != latencies_s_.end()
             ? known->second
             : latencies_s_.emplace(key, platform_.path(from, to).latency_s).first->second;
}

}  // namespace shardscope
