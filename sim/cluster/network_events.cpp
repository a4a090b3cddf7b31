#include "sim/cluster/network_events.h"

#include <functional>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>

#include "core/check.h"

namespace shardscope {
namespace s4u = simgrid::s4u;
using simgrid::kernel::timer::Timer;

namespace {

// Actions that are kept: beyond any ring's, tree's or hierarchy's edges, short of all pairs' of
// many ranks.
constexpr std::size_t kMostKept = std::size_t{1} << 17;

}  // namespace

std::size_t NetworkEvents::HashOfEnds::operator()(const Ends& ends) const {
  const std::hash<const void*> hash;
  return hash(ends.first) * 31 + hash(ends.second);
}

NetworkEvents::NetworkEvents(bool steady_links) : steady_links_(steady_links) {
  s4u::Engine::on_time_advance_cb([this](double /*elapsed_s*/) { find_ended(); });
}

// SimGrid's own signal of a communication's end is for those that an actor waits for. These are
// detached; SimGrid deals with the ends of those that are not kept after this.
void NetworkEvents::find_ended() {
  if (carriers_.empty() || stopped_) {
    return;
  }
  for (auto* model : s4u::Engine::get_instance()->get_all_models()) {
    for (const Action& action : *model->get_finished_action_set()) {
      if (const auto found = carriers_.find(&action); found != carriers_.end()) {
        ended_.push_back(&found->second);
      }
    }
  }
  for (Carrier* carrier : ended_) {
    told_.push_back(carrier->transfer);
    carrier->transfer->left();
  }
  for (Carrier* carrier : ended_) {
    retire(*carrier);
  }
  ended_.clear();
  for (Transfer* transfer : told_) {
    transfer->gone();
  }
  told_.clear();
}

void NetworkEvents::retire(Carrier& carrier) {
  if (!steady_links_ || carriers_.size() > kMostKept) {
    carriers_.erase(carrier.action);
    return;
  }
  carrier.action->set_state(Action::State::INITED);
  carrier.action->suspend();  // Takes no share of its links, whatever happens to these.
  carrier.way->idle.push_back(&carrier);
}

void NetworkEvents::transfer(s4u::Host& from, s4u::Host& to, std::uint64_t bytes,
                             Transfer& transfer, int times) {
  if (bytes == 0) {  // SimGrid never begins one.
    if (empty_.empty()) {
      Timer::set(s4u::Engine::get_clock(), [this] { end_empty(); });
    }
    empty_.push_back(&transfer);
    return;
  }
  const std::uint64_t all = bytes * static_cast<std::uint64_t>(times);
  Way& way = ways_[{&from, &to}];
  Carrier* carrier = nullptr;
  if (way.idle.empty()) {
    carrier = &start(from, to, all);
    carrier->way = &way;
  } else {
    carrier = way.idle.back();
    way.idle.pop_back();
    if (way.links.empty()) {
      double latency_s = 0;
      from.route_to(&to, way.links, &latency_s);
    }
    start_again(*carrier, all);
  }
  carrier->transfer = &transfer;
  if (times > 1) {
    // Max-min fair shares are in proportion to weights, the inverse of penalties.
    carrier->action->set_sharing_penalty(1.0 / times);
  }
}

NetworkEvents::Carrier& NetworkEvents::start(s4u::Host& from, s4u::Host& to, std::uint64_t bytes) {
  const s4u::CommPtr communication = s4u::Comm::sendto_init();
  communication->set_payload_size(bytes);
  communication->detach();
  communication->set_source(&from);
  communication->set_destination(&to);  // Begins it.
  // The action is the last one that its model has started.
  for (auto* model : s4u::Engine::get_instance()->get_all_models()) {
    auto& started = *model->get_started_action_set();
    if (!started.empty() && started.back().get_activity() == communication->get_impl()) {
      Action& action = started.back();
      Carrier& carrier = carriers_[&action];
      carrier.action = &action;
      return carrier;
    }
  }
  check_failed("a communication has an action", "none has begun", __FILE__, __LINE__);
}

// As a new action of these bytes that begins now. SimGrid shares anew only links that it knows to
// be concerned: of a resumed action's they are the first and, unless that is known already, those
// that lead on from it; a bandwidth that is set makes the others known.
void NetworkEvents::start_again(Carrier& carrier, std::uint64_t bytes) {
  Action& action = *carrier.action;
  action.set_state(Action::State::STARTED);
  action.set_cost(static_cast<double>(bytes));
  action.set_remains(static_cast<double>(bytes));
  action.set_last_update();
  action.set_last_value(0);
  action.set_sharing_penalty_no_update(1);
  action.resume();
  for (s4u::Link* link : carrier.way->links) {
    link->set_bandwidth(link->get_bandwidth());
  }
}

void NetworkEvents::end_empty() {
  const std::vector<Transfer*> ended = std::exchange(empty_, {});
  if (stopped_) {
    return;
  }
  for (Transfer* transfer : ended) {
    transfer->left();
  }
  for (Transfer* transfer : ended) {
    transfer->gone();
  }
}

void NetworkEvents::at(double date_s, Alarm& alarm) {
  const auto [found, is_new] = alarms_.try_emplace(date_s);
  found->second.push_back(&alarm);
  if (is_new) {
    Timer::set(date_s, [this, date_s] { ring(date_s); });
  }
}

void NetworkEvents::ring(double date_s) {
  const auto due = alarms_.extract(date_s);
  for (Alarm* alarm : due.mapped()) {
    if (!stopped_) {
      alarm->rings();
    }
  }
}

}  // namespace shardscope
