// Which activations stay from forward to backward, and in what order layers are used: with
// activation checkpointing only the inputs of every so many layers stay, and backward computes the
// forward of those layers again before theirs.
#pragma once

#include <cstddef>
#include <vector>

#include "core/nn/model.h"

namespace shardscope {

/// A use of a layer's parameters. Recomputation is part of backward's pass.
struct LayerUse {
  enum class Kind { forward, recompute, backward };
  std::size_t layer = 0;
  Kind kind = Kind::forward;
};

class ActivationCheckpoints {
 public:
  /// Segments of `every` layers (0: none is computed again), of those that
  /// ModelSpec::can_be_recomputed.
  ActivationCheckpoints(const ModelSpec& model, std::size_t every);

  /// Whether a layer's forward is computed again in backward. What it keeps for its backward then
  /// is there from that time on.
  bool is_recomputed(std::size_t layer) const { return segments_[layer].is_recomputed; }

  /// Whether its output stays from forward to backward.
  bool keeps_output(std::size_t layer) const {
    return !is_recomputed(layer) || layer + 1 == segments_[layer].end;
  }

  /// The layers that are computed again together: a layer's first one, and that after its last. A
  /// layer that is not computed again is alone.
  std::size_t segment_begin(std::size_t layer) const { return segments_[layer].begin; }
  std::size_t segment_end(std::size_t layer) const { return segments_[layer].end; }

  /// The uses of a micro-step in their order: forward; then backward, last layer to first, each
  /// segment's forward before its last layer's backward.
  std::vector<LayerUse> uses() const;

 private:
  struct Segment {
    std::size_t begin;
    std::size_t end;
    bool is_recomputed;
  };
  std::vector<Segment> segments_;  // By layer.
};

}  // namespace shardscope
