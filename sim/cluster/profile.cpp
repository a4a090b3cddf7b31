#include "sim/cluster/profile.h"

#include <cstdio>
#include <simgrid/kernel/ProfileBuilder.hpp>
#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>
#include <string>

namespace shardscope {
namespace {

constexpr double kNever = -1;  // How long after its last line a profile begins anew.

std::string line(double at_s, double value) {
  char text[80];
  std::snprintf(text, sizeof text, "%.17g %.17g\n", at_s, value);
  return text;
}

}  // namespace

void set_profile(simgrid::s4u::Host& host, const RankSpeed& speed) {
  if (speed.changes.empty()) {
    return;
  }
  std::string lines;
  for (const SpeedChange& change : speed.changes) {
    lines += line(change.at_s, change.speed / speed.speed);
  }
  host.set_speed_profile(simgrid::kernel::profile::ProfileBuilder::from_string(
      host.get_name() + ".speed", lines, kNever));
}

void set_profile(simgrid::s4u::Link& link, const std::vector<BandwidthChange>& changes) {
  if (changes.empty()) {
    return;
  }
  std::string lines;
  for (const BandwidthChange& change : changes) {
    lines += line(change.at_s, change.bandwidth_bytes_per_s);
  }
  link.set_bandwidth_profile(simgrid::kernel::profile::ProfileBuilder::from_string(
      link.get_name() + ".bandwidth", lines, kNever));
}

}  // namespace shardscope
