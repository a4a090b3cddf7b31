// A cluster in one process and without a clock: a thread per rank and queues between them. For
// tests, and for running the training step where only its arithmetic is wanted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/collectives/transport.h"
#include "core/device/device.h"

namespace shardscope {

/// What a rank's function gets. Collectives run on the calling thread when they are enqueued.
struct LocalRank {
  Transport& transport;
  Device& device;
};

/// Runs `body` once for each rank, at the same time, and returns when all have ended. If bodies
/// throw, the others' waits are ended and the exception of the lowest rank that threw is rethrown.
/// `capacity_bytes` has an entry for each rank, or none: then memory is unlimited.
void run_local_cluster(int world_size, const std::function<void(LocalRank)>& body,
                       const std::vector<std::uint64_t>& capacity_bytes = {});

}  // namespace shardscope
