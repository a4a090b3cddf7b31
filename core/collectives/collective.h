// A collective ready to run on one rank: its schedule, the memory it works on and its staging
// buffers. One function runs any schedule over any transport.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/collectives/chunked_tensor.h"
#include "core/collectives/schedule.h"
#include "core/collectives/transport.h"
#include "core/nn/model.h"
#include "core/tensor/buffer.h"

namespace shardscope {

/// Ranks first, first + stride, ...: those that take part in a collective, by their rank in it.
struct RankGroup {
  int first = 0;
  int stride = 1;
  int size = 1;

  int world_rank(int group_rank) const { return first + group_rank * stride; }
  int group_rank(int world_rank) const { return (world_rank - first) / stride; }
};

/// What a collective is counted as: the training's data, or what decides on it (a norm, a flag of
/// overflow), which no table of the wire has.
enum class Purpose { data, norm, overflow };

class Collective {
 public:
  /// Staging is registered as communication_buckets: one chunk for what is received to be added,
  /// and one for each direction if a chunk is not contiguous in memory. Throws OutOfMemory. The
  /// data must stay valid until the collective has been run.
  Collective(std::unique_ptr<const Schedule> schedule, ChunkedTensor data, RankGroup group,
             Purpose purpose, std::optional<LayerRange> layers, MemoryLedger& ledger,
             Storage storage);

  const Schedule& schedule() const { return *schedule_; }
  const ChunkedTensor& data() const { return data_; }
  const RankGroup& group() const { return group_; }
  Purpose purpose() const { return purpose_; }
  const std::optional<LayerRange>& layers() const { return layers_; }

  /// "all_gather layers.2", "all_reduce norm"; the operation alone if the data is no layer's.
  std::string name() const;

  /// Runs the transport's rank through the schedule and returns when its last round is done.
  void run(Transport& transport);

 private:
  void run_round(const Round& round, Transport& transport);
  Tensor outgoing(int chunk);
  Tensor incoming(int chunk);
  void received(int chunk);

  std::unique_ptr<const Schedule> schedule_;
  ChunkedTensor data_;
  RankGroup group_;
  Purpose purpose_;
  std::optional<LayerRange> layers_;
  Buffer send_staging_;
  // A device receives here what it adds, too; there the transport adds from the sender's memory,
  // and this is held for the ledger's sake.
  Buffer receive_staging_;
  std::optional<int> staged_chunk_;  // What receive_staging_ holds.
};

}  // namespace shardscope
