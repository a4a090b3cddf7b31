#include "core/training/loss_scaler.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>

namespace shardscope {

namespace {

std::string text_of(double scale) {
  std::ostringstream text;
  text << scale;
  return text.str();
}

}  // namespace

LossScaleExhausted::LossScaleExhausted(double scale)
    : std::runtime_error("gradients overflow at the least loss scale, " + text_of(scale)) {}

LossScaler::LossScaler(const TrainingOptions& options, Framework framework)
    : is_dynamic_(options.dynamic_loss_scale.has_value()), framework_(framework) {
  const DynamicLossScale given = options.dynamic_loss_scale.value_or(DynamicLossScale{});
  const bool deepspeed = framework == Framework::deepspeed;
  growth_interval_ = given.growth_interval.value_or(deepspeed ? 1000 : 2000);
  hysteresis_ = given.hysteresis.value_or(deepspeed ? 2 : 1);
  minimum_ = given.minimum.value_or(deepspeed ? 1 : 0);
  state_.scale = is_dynamic_ ? given.initial.value_or(65536) : options.loss_scale;
  state_.hysteresis = hysteresis_;
}

void LossScaler::update(bool overflowed) {
  if (overflowed) {
    shrink();
    state_.good_steps = 0;
    return;
  }
  if (++state_.good_steps == growth_interval_) {
    // torch's scale is an fp32 number, and stays one.
    const bool grows =
        framework_ == Framework::deepspeed || 2 * state_.scale <= std::numeric_limits<float>::max();
    state_.scale *= grows ? 2 : 1;
    state_.good_steps = 0;
    state_.hysteresis = hysteresis_;
  }
}

void LossScaler::shrink() {
  if (state_.hysteresis > 1) {
    --state_.hysteresis;
    return;
  }
  if (framework_ == Framework::deepspeed && state_.scale <= minimum_) {
    throw LossScaleExhausted(state_.scale);
  }
  state_.scale = std::max(state_.scale / 2, minimum_);
}

}  // namespace shardscope
