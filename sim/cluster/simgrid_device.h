// Device on SimGrid: kernels become executions on the rank's host, collectives run on an actor of
// their own, the communication stream.
#pragma once

#include <memory>

#include "core/collectives/transport.h"
#include "core/device/device.h"
#include "sim/cluster/timeline.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// Sums over the whole run of what each resource alone would have taken.
struct ComputeLimits {
  double flops_s = 0;   ///< Kernels bound by arithmetic.
  double memory_s = 0;  ///< Kernels bound by memory traffic.
  double launch_s = 0;
};

class SimGridDevice final : public Device {
 public:
  /// Call on the rank's own actor, which is the compute stream; starts the communication stream on
  /// the same host. `transport` must outlive the device, and is used by that stream only.
  SimGridDevice(const DeviceSpec& spec, Transport& transport);
  ~SimGridDevice() override;

  MemoryLedger& memory() override { return memory_; }
  void compute(Phase phase, Cost cost) override;
  std::unique_ptr<Work> enqueue(std::unique_ptr<Collective> collective) override;

  Timeline& timeline() { return timeline_; }
  const MemoryLedger& memory() const { return memory_; }
  const ComputeLimits& limits() const { return limits_; }

 private:
  class Stream;
  class StreamWork;

  const DeviceSpec& spec_;
  MemoryLedger memory_;
  Timeline timeline_;
  ComputeLimits limits_;
  std::shared_ptr<Stream> stream_;
};

}  // namespace shardscope
