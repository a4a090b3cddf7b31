// Whether the machine that runs the simulation has the memory that it takes: real training holds
// every rank's tensors at once.
#pragma once

#include <cstdint>
#include <string>

#include "core/training/strategy.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// What simulating the strategy takes: each rank's states, activations, inputs and largest buffers,
/// as far as its simulated device holds them, and the program itself. Up to 30 % too high rather
/// than too low.
std::uint64_t needed_host_bytes(const Scenario& scenario, const Strategy& strategy);

/// Where Linux says what there is; other roots serve tests.
struct HostMemoryFiles {
  std::string meminfo = "/proc/meminfo";
  std::string cgroup_of_self = "/proc/self/cgroup";
  std::string cgroup_root = "/sys/fs/cgroup";
};

/// The memory available on the machine, or what the process's control groups (version 2 or 1) or
/// its address-space limit leave, whichever is less; what Linux can take back from file caches
/// counts as available. Files that are absent or unreadable limit nothing.
std::uint64_t available_host_bytes(const HostMemoryFiles& files = {});

}  // namespace shardscope
