// The loss scale of half-precision training: static, or dynamic by the rule of a framework.
//
// torch.cuda.amp.GradScaler: a step that overflows halves the scale; growth_interval good steps in
// a row (default 2000) double it. DeepSpeed's DynamicLossScaler (runtime/fp16/loss_scaler.py): the
// first overflows use up the hysteresis (default 2) and leave the scale, further ones halve it, not
// below the minimum (default 1); growth_interval steps (default 1000) since the last overflow
// double it and restore the hysteresis. Both begin with 65536.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "core/training/options.h"
#include "core/training/strategy.h"
#include "core/training/training_state.h"

namespace shardscope {

/// A step overflowed at the least loss scale: DeepSpeed ends the training. A result of the run.
class LossScaleExhausted : public std::runtime_error {
 public:
  explicit LossScaleExhausted(double scale);
};

class LossScaler {
 public:
  LossScaler(const TrainingOptions& options, Framework framework);

  double scale() const { return state_.scale; }
  bool is_dynamic() const { return is_dynamic_; }

  /// After each step, if dynamic. Throws LossScaleExhausted.
  void update(bool overflowed);

  const LossScaleState& state() const { return state_; }
  /// A static scale stays that of the options.
  void restore(const LossScaleState& state) { state_ = is_dynamic_ ? state : state_; }

 private:
  void shrink();

  bool is_dynamic_;
  Framework framework_;
  std::int64_t growth_interval_;
  std::int64_t hysteresis_;
  double minimum_;
  LossScaleState state_;
};

}  // namespace shardscope
