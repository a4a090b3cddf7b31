// A rank's device: its memory, a compute stream and a communication stream.
//
// The caller is the compute stream: `compute` returns when the kernel is done, `Work::wait` when
// the collective is. Collectives run one after another on the communication stream, in the order
// they were enqueued, which must be the same on all ranks.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "core/collectives/collective.h"
#include "core/nn/cost.h"
#include "core/tensor/ledger.h"

namespace shardscope {

enum class Phase { initialization, forward, backward, optimizer };

std::string_view name(Phase phase);

/// A collective under way, as torch.distributed's Work.
class Work {
 public:
  virtual ~Work() = default;

  /// Blocks the compute stream until the collective is done on this rank. The time that passes is
  /// exposed communication of `phase`. Call once.
  virtual void wait(Phase phase) = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual MemoryLedger& memory() = 0;

  /// The time of one kernel; its arithmetic is the caller's.
  virtual void compute(Phase phase, Cost cost) = 0;

  virtual std::unique_ptr<Work> enqueue(std::unique_ptr<Collective> collective) = 0;
};

}  // namespace shardscope
