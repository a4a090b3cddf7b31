// A collective ready to run on one rank: its schedule, the memory it works on and its staging
// buffers. Round by round it says which tensors go where; run() does that over any transport.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/collectives/chunked_tensor.h"
#include "core/collectives/rank_group.h"
#include "core/collectives/schedule.h"
#include "core/collectives/transport.h"
#include "core/nn/model.h"
#include "core/tensor/buffer.h"

namespace shardscope {

/// What a collective is counted as: the training's data, or what decides on it (a norm, a flag of
/// overflow), which no table of the wire has.
enum class Purpose { data, norm, overflow };

class Collective {
 public:
  /// Runs on `rank` of the group. Its Staging is registered as communication_buckets: `added`, and
  /// if a chunk is not contiguous in memory `sent` and `received`. Throws OutOfMemory. The data
  /// must stay valid until the collective has been run.
  Collective(std::unique_ptr<const Schedule> schedule, ChunkedTensor data, RankGroup group,
             int rank, Purpose purpose, std::optional<LayerRange> layers, MemoryLedger& ledger,
             Storage storage);

  /// The collectives of all ranks of a group, by rank in it, done at once and without a network:
  /// each element ends with the bits that messages give it.
  static void run_together(std::span<Collective* const> ranks);

  const Schedule& schedule() const { return *schedule_; }
  const ChunkedTensor& data() const { return data_; }
  const RankGroup& group() const { return group_; }
  int world_rank() const { return group_.world_rank(rank_); }
  Purpose purpose() const { return purpose_; }
  const std::optional<LayerRange>& layers() const { return layers_; }

  /// "all_gather layers.2", "all_reduce norm"; the operation alone if the data is no layer's.
  std::string name() const;

  /// The messages of one of the schedule's rounds, between world ranks. They and their lists stay
  /// valid until the next call.
  void begin_round(int index);
  std::span<const Outgoing> sends() const { return sends_; }
  std::span<const Incoming> receives() const { return receives_; }

  /// Runs the rank through the schedule over its transport and returns when its last round is done.
  void run(Transport& transport);

 private:
  void find_pieces();

  std::unique_ptr<const Schedule> schedule_;
  ChunkedTensor data_;
  RankGroup group_;
  int rank_;
  Purpose purpose_;
  std::optional<LayerRange> layers_;
  // A device packs what it sends and receives; here messages go from the sender's tensors into the
  // receiver's, and these are held for the ledger's sake.
  Buffer send_staging_;
  Buffer receive_staging_;

  // Of the round under way.
  Round round_;
  std::vector<Tensor> pieces_;      // Of all messages, sends first.
  std::vector<std::size_t> sizes_;  // Of each message, in pieces.
  std::vector<Outgoing> sends_;
  std::vector<Incoming> receives_;
};

}  // namespace shardscope
