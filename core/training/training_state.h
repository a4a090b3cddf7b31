// What a training is between two steps: what a checkpoint saves, and what a resumed run begins
// with. Independent of strategy and world size: vectors are those of the whole model in torch
// order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/tensor/tensor.h"

namespace shardscope {

/// The fp32 vectors of a state: weights (the master weights, or the parameters of fp32 training,
/// which the parameters of a half type are the rounding of) and Adam's moments.
enum class StateVector { weights, first_moment, second_moment };

/// A part of the state as the rank that owns it holds it: elements [begin, begin + weights.count)
/// in torch order, without padding; the three tensors are fp32 and of one count.
struct OwnedState {
  std::size_t begin = 0;
  Tensor weights;
  Tensor first_moment;
  Tensor second_moment;
};

/// The loss scale and what its rule remembers (loss_scaler.h).
struct LossScaleState {
  double scale = 1;
  std::int64_t good_steps = 0;  ///< Since the scale changed or a step overflowed.
  std::int64_t hysteresis = 1;  ///< Overflows until the scale falls.
};

struct TrainingProgress {
  std::int64_t steps = 0;    ///< Done; the next batch is that of step steps + 1.
  std::int64_t updates = 0;  ///< Of the optimizer: steps that were not skipped.
  LossScaleState loss_scale;
};

/// A saved state. May be read by several threads at once.
class StateSource {
 public:
  virtual ~StateSource() = default;

  virtual TrainingProgress progress() const = 0;

  /// Elements [begin, begin + out.count), at least one, of a vector, in torch order. `out` is fp32.
  virtual void read(StateVector which, std::size_t begin, Tensor out) const = 0;
};

}  // namespace shardscope
