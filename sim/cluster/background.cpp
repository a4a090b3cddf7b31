#include "sim/cluster/background.h"

#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Host.hpp>

namespace shardscope {
namespace s4u = simgrid::s4u;

namespace {

[[noreturn]] void send_forever(BackgroundTraffic& traffic, s4u::Host* from, s4u::Host* to) {
  const BackgroundFlow& flow = *traffic.flow;
  s4u::this_actor::sleep_for(flow.begin_s);
  while (true) {
    const double begin_s = s4u::Engine::get_clock();
    traffic.under_way = s4u::Comm::sendto_async(from, to, flow.message_bytes);
    traffic.under_way->wait();
    traffic.under_way.reset();
    traffic.whole_bytes += flow.message_bytes;
    s4u::this_actor::sleep_until(begin_s + flow.every_s);
  }
}

// Of the message under way what has left.
std::uint64_t bytes_so_far(const BackgroundTraffic& traffic) {
  if (traffic.under_way == nullptr) {
    return traffic.whole_bytes;
  }
  const double left = traffic.under_way->get_remaining();
  return traffic.whole_bytes + traffic.flow->message_bytes - static_cast<std::uint64_t>(left);
}

}  // namespace

void start_background(const std::vector<BackgroundFlow>& flows, const Platform& platform,
                      std::deque<BackgroundTraffic>& all) {
  for (const BackgroundFlow& flow : flows) {
    all.push_back({&flow, 0});
  }
  for (BackgroundTraffic& traffic : all) {
    const BackgroundFlow& flow = *traffic.flow;
    s4u::Host* from = platform.device_host(flow.from);
    s4u::Host* to = platform.device_host(flow.to);
    s4u::Actor::create("background " + flow.from + "->" + flow.to, from, [&traffic, from, to] {
      send_forever(traffic, from, to);
    })->daemonize();
  }
  // SimGrid ends the daemons after the last rank, and their messages with them.
  s4u::Actor::on_termination_cb([&all](const s4u::Actor& actor) {
    for (BackgroundTraffic& traffic : all) {
      traffic.bytes = actor.is_daemon() ? traffic.bytes : bytes_so_far(traffic);
    }
  });
}

}  // namespace shardscope
