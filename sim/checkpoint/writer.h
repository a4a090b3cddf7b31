// Saving checkpoints, whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/training/training_state.h"
#include "sim/checkpoint/layout.h"
#include "sim/checkpoint/manifest.h"
#include "sim/files/atomic_folder.h"

namespace shardscope {

struct SavedCheckpoint {
  std::string folder;
  std::vector<std::uint64_t> bytes_by_rank;  ///< Of its file; 0 if it holds nothing.
};

/// Saves the checkpoints of one strategy of a run to DIRECTORY/<STRATEGY>/step-<steps>. Whatever
/// kills the program, the newest checkpoint there is whole. From the first save on the folder is
/// this writer's alone: a second one fails to save there. Not thread-safe.
class CheckpointWriter {
 public:
  /// The newest `keep` checkpoints up to the step just saved stay, older ones are removed; `keep`
  /// is at least 1. Touches no file.
  CheckpointWriter(std::string directory, std::size_t keep, CheckpointRun run);
  ~CheckpointWriter();

  /// Saves what the ranks own: `owned[r]` is of rank r, one list per rank of the world, and every
  /// element of the model is owned exactly once (aborts otherwise). A strategy that replicates its
  /// state gives that of rank 0 alone. A checkpoint of the same step is replaced; those of later
  /// steps, which a run that began anew may find, are left alone.
  /// Nothing, and the path and the reason, if it cannot be written; what was there stays.
  std::optional<SavedCheckpoint> write(const TrainingProgress& progress,
                                       const std::vector<std::vector<OwnedState>>& owned,
                                       std::string& error);

 private:
  class FolderLock;

  std::string folder_;  // Of the strategy.
  std::size_t keep_;
  CheckpointRun run_;
  std::unique_ptr<FolderLock> lock_;  // From the first save on.
};

/// Writes a checkpoint of any source as the folder `folder`, piece by piece: the model need not fit
/// into memory. `ownership` has a list per rank of the run's world, and every element once (aborts
/// otherwise). Errors are as above; what the source throws passes through, and nothing is left.
std::optional<SavedCheckpoint> write_checkpoint(const std::string& folder, ExistingFolder existing,
                                                const CheckpointRun& run, const StateSource& source,
                                                const Ownership& ownership, std::string& error);

}  // namespace shardscope
