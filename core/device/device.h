// A rank's device: its memory, a compute stream and a communication stream.
//
// The caller is the compute stream. Kernels and collectives are done in the order of the calls:
// what follows a kernel comes after it, a collective begins when the kernels before it are done,
// and `Work::wait` returns when the collective is. Collectives run one after another on the
// communication stream, in the order they were enqueued, which must be the same on all ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/collectives/collective.h"
#include "core/device/position.h"
#include "core/nn/cost.h"
#include "core/tensor/ledger.h"

namespace shardscope {

/// A collective under way, as torch.distributed's Work.
class Work {
 public:
  virtual ~Work() = default;

  /// Blocks the compute stream until the collective is done on this rank. The time that passes is
  /// exposed communication of the device's position. Call once.
  virtual void wait() = 0;
};

/// What the host does for a device: bytes over the link between them, in either direction, and
/// parameters that its CPUs update.
struct HostWork {
  std::uint64_t link_bytes = 0;
  std::uint64_t updated_parameters = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual MemoryLedger& memory() = 0;

  /// The rank's memory on the host.
  MemoryLedger& host_memory() { return host_memory_; }
  const MemoryLedger& host_memory() const { return host_memory_; }

  /// The training step says where it is before it computes, waits or allocates. An exception leaves
  /// the position as it was.
  const TrainingPosition& position() const { return position_; }
  void begin_step(std::int64_t t) { position_.step = t; }
  void enter(Phase phase, std::optional<std::size_t> layer = std::nullopt) {
    position_.phase = phase;
    position_.layer = layer;
  }

  /// The time of one kernel; its arithmetic is the caller's. `kernel` names it ("linear") and must
  /// stay valid.
  virtual void compute(std::string_view kernel, Cost cost) = 0;

  /// The time of work on the host, in which the device waits.
  virtual void on_host(std::string_view kernel, HostWork work) = 0;

  virtual std::unique_ptr<Work> enqueue(std::unique_ptr<Collective> collective) = 0;

 private:
  TrainingPosition position_;
  MemoryLedger host_memory_;
};

}  // namespace shardscope
