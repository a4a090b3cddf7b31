// Device on SimGrid: kernels take their time on the rank's actor, or are executions on its host
// where that changes its speed; collectives are run by the exchange, one after another as on a
// communication stream.
//
// Kernels are launched and not waited for, as on a GPU: those between two points where the streams
// meet are one wait, which costs less host time and keeps a rank's data in the cache.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/device/device.h"
#include "sim/cluster/exchange.h"
#include "sim/cluster/recorder.h"
#include "sim/cluster/roofline.h"
#include "sim/cluster/save_point.h"
#include "sim/cluster/timeline.h"
#include "sim/cluster/traffic.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// Sums over the whole run of what each resource alone would have taken.
struct ComputeLimits {
  double flops_s = 0;   ///< Kernels bound by arithmetic.
  double memory_s = 0;  ///< Kernels bound by memory traffic.
  double launch_s = 0;
  double host_s = 0;  ///< Work on the host.
};

class SimGridDevice final : public Device {
 public:
  /// Its part of the host: of the link, and of the node's CPUs.
  struct Host {
    double link_bytes_per_s = 0;
    double adam_parameters_per_s = 0;
  };

  /// Call on the rank's own actor, which is the compute stream. `speed_changes`: the host's speed
  /// does, at dates of its own. `exchange` is shared by all ranks. References must outlive the
  /// device, and the device the engine's run.
  SimGridDevice(const DeviceSpec& spec, Host host, bool speed_changes, RankTraffic& traffic,
                Exchange& exchange, Recorder& recorder);
  ~SimGridDevice() override;

  MemoryLedger& memory() override { return memory_; }
  void compute(std::string_view kernel, Cost cost) override;
  void on_host(std::string_view kernel, HostWork work) override;
  std::unique_ptr<Work> enqueue(std::unique_ptr<Collective> collective) override;

  /// Returns when every kernel so far is done.
  void synchronize();

  /// The time since the last kernel or wait went into saving so many bytes of a checkpoint.
  void saved(std::uint64_t bytes, const SavePoint::Saved& saved);

  Timeline& timeline() { return timeline_; }
  const MemoryLedger& memory() const { return memory_; }
  const ComputeLimits& limits() const { return limits_; }

 private:
  class Stream;
  class StreamWork;

  // A kernel that was launched.
  struct Kernel {
    TrainingPosition position;
    std::string_view name;
    Cost cost;
    KernelTime time;
  };

  void run_one_by_one();

  const DeviceSpec& spec_;
  Host host_;
  bool speed_changes_;
  double host_speed_;  // Kernels are given in seconds of it.
  Exchange& exchange_;
  Recorder& recorder_;
  MemoryLedger memory_;
  Timeline timeline_;
  ComputeLimits limits_;
  std::vector<Kernel> launched_;  // Since the last synchronization.
  std::unique_ptr<Stream> stream_;
};

}  // namespace shardscope
