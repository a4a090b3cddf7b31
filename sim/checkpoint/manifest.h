// manifest.json: what a checkpoint is of and which rank's file holds what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/nn/adam.h"
#include "core/nn/model.h"
#include "core/tensor/dtype.h"
#include "core/training/training_state.h"
#include "sim/checkpoint/layout.h"
#include "sim/text/fault.h"

namespace shardscope {

/// What all checkpoints of a run share.
struct CheckpointRun {
  std::string program;   ///< That wrote it: "shardscope 0.1.0".
  std::string scenario;  ///< Its name.
  ModelSpec model;
  DType precision = DType::fp32;  ///< Of the parameters; what is saved is fp32.
  std::string strategy;
  int world_size = 1;
  AdamOptions optimizer;
};

/// The file of one rank.
struct CheckpointFile {
  std::string name;  ///< Empty if the rank holds nothing and has no file.
  std::uint64_t bytes = 0;
  std::string checksum;             ///< Of the whole file: "fnv1a64:" and 16 hexadecimal digits.
  std::vector<TensorRange> ranges;  ///< Of each of the three vectors, in the order of the file.
};

struct CheckpointManifest {
  CheckpointRun run;
  TrainingProgress progress;
  std::vector<CheckpointFile> files;  ///< By rank.
};

/// Longer manifests are neither written nor read, bytes.
inline constexpr std::size_t kLongestManifest = std::size_t{64} << 20;

/// More ranks are refused: their manifest would hold more values than are read.
inline constexpr int kMostCheckpointRanks = 65'536;

/// The file's text; a function of the manifest alone.
std::string manifest_text(const CheckpointManifest& manifest);

/// The manifest that a text of manifest_text() describes; or nothing, and every fault. Fields are
/// complete, known and allowed one by one, the files are one per rank with the names that the
/// format gives, and ranges are pieces of tensors of the model. `place` is the file's name, for the
/// faults.
std::optional<CheckpointManifest> parse_manifest(const std::string& text, const std::string& place,
                                                 std::vector<Fault>& faults);

/// That every element of every tensor is held exactly once; faults name the gaps and overlaps. Both
/// vectors' tensors are those of the manifest's model.
void check_coverage(const CheckpointManifest& manifest, const std::vector<ModelTensor>& tensors,
                    const std::string& place, std::vector<Fault>& faults);

/// Whether a strategy may have the name: capitals, digits and underscores, for it names a folder.
bool is_strategy_name(std::string_view name);

/// "relu", "mse", "adamw".
std::string_view name(Activation activation);
std::string_view name(Loss loss);
std::string_view name(AdamOptions::Variant variant);

}  // namespace shardscope
