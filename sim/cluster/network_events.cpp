#include "sim/cluster/network_events.h"

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <utility>

namespace shardscope {
namespace s4u = simgrid::s4u;
using simgrid::kernel::timer::Timer;

NetworkEvents::NetworkEvents() {
  s4u::Engine::on_time_advance_cb([this](double /*elapsed_s*/) { find_ended(); });
}

// SimGrid's own signal of a communication's end is for those that an actor waits for. These are
// detached; their addresses are unique until SimGrid has dealt with their end, after this.
void NetworkEvents::find_ended() {
  if (under_way_.empty() || stopped_) {
    return;
  }
  for (auto* model : s4u::Engine::get_instance()->get_all_models()) {
    for (const auto& action : *model->get_finished_action_set()) {
      if (const auto found = under_way_.find(action.get_activity()); found != under_way_.end()) {
        found->second->left();
        ended_.push_back(found->second);
        under_way_.erase(found);
      }
    }
  }
  go_on(ended_);
}

void NetworkEvents::go_on(std::vector<Transfer*>& ended) {
  for (Transfer* transfer : ended) {
    transfer->gone();
  }
  ended.clear();
}

void NetworkEvents::transfer(s4u::Host& from, s4u::Host& to, std::uint64_t bytes,
                             Transfer& transfer) {
  if (bytes == 0) {  // SimGrid never begins one.
    if (empty_.empty()) {
      Timer::set(s4u::Engine::get_clock(), [this] { end_empty(); });
    }
    empty_.push_back(&transfer);
    return;
  }
  const s4u::CommPtr communication = s4u::Comm::sendto_init();
  communication->set_payload_size(bytes);
  communication->detach();
  communication->set_source(&from);
  communication->set_destination(&to);  // Begins it.
  under_way_.emplace(communication->get_impl(), &transfer);
}

void NetworkEvents::end_empty() {
  std::vector<Transfer*> ended = std::exchange(empty_, {});
  if (stopped_) {
    return;
  }
  for (Transfer* transfer : ended) {
    transfer->left();
  }
  go_on(ended);
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
