// Saved checkpoints, found, checked and read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/nn/model.h"
#include "core/training/training_state.h"
#include "sim/checkpoint/manifest.h"
#include "sim/checkpoint/rank_file.h"
#include "sim/text/fault.h"

namespace shardscope {

/// A checkpoint whose files were all found to be as its manifest says. Values are not judged: the
/// weights of a training that diverged are what they are.
class CheckpointSource : public StateSource {
 public:
  /// Opens a checkpoint's own folder (step-0000020). Null, with every fault, unless the manifest is
  /// there, whole and consistent, every element is held exactly once, and each file has the size,
  /// the tensors and the checksum that it should. Reads every file once; holds none in memory.
  static std::unique_ptr<CheckpointSource> open(const std::string& folder,
                                                std::vector<Fault>& faults);

  const std::string& folder() const { return folder_; }
  const CheckpointManifest& manifest() const { return manifest_; }

  /// Of all rank files together.
  std::size_t file_count() const;
  std::uint64_t bytes() const;

  TrainingProgress progress() const override { return manifest_.progress; }

  /// Aborts if the range leaves the model. Throws std::runtime_error if a file has changed or
  /// cannot be read any more.
  void read(StateVector which, std::size_t begin, Tensor out) const override;

 private:
  /// A piece of the model, in rank file `rank` its `range`-th.
  struct Piece {
    std::size_t begin = 0;
    std::size_t count = 0;
    std::size_t rank = 0;
    std::size_t range = 0;
  };

  CheckpointSource(std::string folder, CheckpointManifest manifest);

  std::string folder_;
  CheckpointManifest manifest_;
  std::vector<std::optional<RankFile>> files_;  // By rank; none if it holds nothing.
  std::vector<Piece> pieces_;                   // In torch order; they cover the model.
};

/// The folders of all checkpoints that are at or under a path: itself, if it is a checkpoint's
/// folder; those of the steps of a strategy, ascending; or those of each strategy, by name. None,
/// and a fault, if there are none. Links and folders that are not complete are passed over.
std::vector<std::string> find_checkpoints(const std::string& path, std::vector<Fault>& faults);

/// The steps of the newest checkpoint of the strategy in a checkpoint directory, whole or not.
std::optional<std::int64_t> newest_steps(const std::string& directory, std::string_view strategy);

/// Opens the checkpoint that is meant by a path: a checkpoint's own folder; the newest step of a
/// strategy's folder; or of a checkpoint directory that of the strategy, which may be left out if
/// there is but one. An older checkpoint never takes the place of one with faults; the last fault
/// then says which there is.
std::unique_ptr<CheckpointSource> open_checkpoint(const std::string& path,
                                                  const std::optional<std::string>& strategy,
                                                  std::vector<Fault>& faults);

/// In what the checkpoint's model differs from another, as faults at the checkpoint's folder.
/// Without any the state may be read as that model's.
void check_model(const CheckpointSource& source, const ModelSpec& model,
                 std::vector<Fault>& faults);

}  // namespace shardscope
