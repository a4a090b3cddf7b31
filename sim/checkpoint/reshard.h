// Checkpoints for another world, and as one file.
#pragma once

#include <optional>
#include <string>

#include "sim/checkpoint/layout.h"
#include "sim/checkpoint/source.h"
#include "sim/checkpoint/writer.h"

namespace shardscope {

/// The world that a checkpoint is cut anew for.
struct ReshardTarget {
  std::string strategy;
  Ownership ownership;  ///< A list per rank; every element of the model once.
};

/// Writes the same state, bit for bit, as the new checkpoint folder `out`, which is made with the
/// folders above it. `program` is the one that writes. Nothing, and the error, if `out` exists, a
/// file cannot be written or the checkpoint cannot be read any more; then nothing is left.
std::optional<SavedCheckpoint> reshard(const CheckpointSource& source, const ReshardTarget& target,
                                       const std::string& program, const std::string& out,
                                       std::string& error);

/// Writes the weights as one safetensors file, F32: layers.<i>.weight [out, in] and layers.<i>.bias
/// [out], as torch.nn.Linear has them and a scenario's model.weights_file reads them. The error, or
/// nothing; refused if `out` exists.
std::optional<std::string> consolidate(const CheckpointSource& source, const std::string& out);

}  // namespace shardscope
