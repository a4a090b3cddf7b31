#include "core/training/loss_scaler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace shardscope::testing {
namespace {

constexpr int kSteps = 12;

struct Rule {
  double initial;
  std::int64_t growth_interval;
  std::int64_t hysteresis;
  double minimum;
};

TrainingOptions dynamic(const Rule& rule) {
  TrainingOptions options;
  options.dynamic_loss_scale = DynamicLossScale{.initial = rule.initial,
                                                .growth_interval = rule.growth_interval,
                                                .hysteresis = rule.hysteresis,
                                                .minimum = rule.minimum};
  return options;
}

bool overflows(unsigned pattern, int step) { return (pattern >> step & 1U) != 0; }

// DeepSpeed's DynamicLossScaler with its own counters: iterations, and the last one that
// overflowed.
class DeepSpeedTwin {
 public:
  explicit DeepSpeedTwin(const Rule& rule)
      : rule_(rule), scale_(rule.initial), hysteresis_(rule.hysteresis) {}

  // No scale where DeepSpeed raises an error.
  std::optional<double> update(bool overflow) {
    if (overflow) {
      if (hysteresis_ == 1 && scale_ == rule_.minimum) {
        return std::nullopt;
      }
      if (hysteresis_ == 1) {
        scale_ = std::max(scale_ / 2, rule_.minimum);
      } else {
        --hysteresis_;
      }
      last_overflow_ = iteration_;
    } else if ((iteration_ - last_overflow_) % rule_.growth_interval == 0) {
      hysteresis_ = rule_.hysteresis;
      scale_ *= 2;
    }
    ++iteration_;
    return scale_;
  }

 private:
  const Rule& rule_;
  double scale_;
  std::int64_t hysteresis_;
  std::int64_t iteration_ = 0;
  std::int64_t last_overflow_ = -1;
};

TEST(DeepSpeedsLossScaler, IsItsTwinOnEveryPatternOfOverflows) {
  int raised = 0;
  for (const double initial : {1.0, 2.0, 8.0, 65536.0}) {
    for (const std::int64_t interval : {1, 2, 3, 5}) {
      for (const std::int64_t hysteresis : {1, 2, 3}) {
        const Rule rule{initial, interval, hysteresis, 1.0};
        const TrainingOptions options = dynamic(rule);
        for (unsigned pattern = 0; pattern < 1U << kSteps; ++pattern) {
          LossScaler scaler(options, Framework::deepspeed);
          DeepSpeedTwin twin(rule);
          for (int step = 0; step < kSteps; ++step) {
            const std::optional<double> expected = twin.update(overflows(pattern, step));
            if (!expected.has_value()) {
              ASSERT_THROW(scaler.update(true), LossScaleExhausted);
              ++raised;
              break;
            }
            scaler.update(overflows(pattern, step));
            ASSERT_EQ(scaler.scale(), *expected)
                << "from " << initial << ", interval " << interval << ", hysteresis " << hysteresis
                << ", pattern " << pattern << ", step " << step;
          }
        }
      }
    }
  }
  EXPECT_GT(raised, 0);
}

// GradScaler in closed form: every overflow halves, every growth_interval good steps since the last
// one double.
double torch_scale(const Rule& rule, unsigned pattern, int steps) {
  std::int64_t doublings = 0;
  std::int64_t good = 0;
  for (int step = 0; step < steps; ++step) {
    if (!overflows(pattern, step)) {
      ++good;
      continue;
    }
    doublings += good / rule.growth_interval - 1;
    good = 0;
  }
  return std::ldexp(rule.initial, static_cast<int>(doublings + good / rule.growth_interval));
}

TEST(TorchsLossScaler, IsItsClosedFormOnEveryPatternOfOverflows) {
  for (const std::int64_t interval : {1, 2, 3, 5, 2000}) {
    const Rule rule{65536.0, interval, 1, 0.0};
    const TrainingOptions options = dynamic(rule);
    for (unsigned pattern = 0; pattern < 1U << kSteps; ++pattern) {
      LossScaler scaler(options, Framework::torch);
      for (int step = 0; step < kSteps; ++step) {
        ASSERT_EQ(scaler.scale(), torch_scale(rule, pattern, step))
            << "interval " << interval << ", pattern " << pattern << ", step " << step;
        scaler.update(overflows(pattern, step));
      }
    }
  }
}

// torch has no least scale; one that is given stops the halving and is no error.
TEST(TorchsLossScaler, StaysAtAMinimumThatIsGiven) {
  LossScaler scaler(dynamic({8.0, 2000, 1, 2.0}), Framework::torch);
  for (const double expected : {8.0, 4.0, 2.0, 2.0, 2.0}) {
    EXPECT_EQ(scaler.scale(), expected);
    scaler.update(true);
  }
}

TEST(TorchsLossScaler, StaysInFp32) {
  LossScaler scaler(dynamic({std::ldexp(1.0, 126), 1, 1, 0.0}), Framework::torch);
  for (const int exponent : {126, 127, 127, 127}) {
    EXPECT_EQ(scaler.scale(), std::ldexp(1.0, exponent));
    scaler.update(false);
  }
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), std::ldexp(1.0, 126));
}

TEST(LossScaler, HasTheDefaultsOfTheFrameworks) {
  TrainingOptions options;
  options.dynamic_loss_scale.emplace();
  for (const Framework framework : {Framework::torch, Framework::deepspeed}) {
    const bool deepspeed = framework == Framework::deepspeed;
    LossScaler scaler(options, framework);
    EXPECT_TRUE(scaler.is_dynamic());
    EXPECT_EQ(scaler.scale(), 65536.0);
    scaler.update(true);
    EXPECT_EQ(scaler.scale(), deepspeed ? 65536.0 : 32768.0);
    const double fallen = scaler.scale();
    for (int step = 0; step < (deepspeed ? 999 : 1999); ++step) {
      scaler.update(false);
    }
    EXPECT_EQ(scaler.scale(), fallen);
    scaler.update(false);
    EXPECT_EQ(scaler.scale(), 2 * fallen);
  }
  options.dynamic_loss_scale->initial = 1.0;
  LossScaler least(options, Framework::deepspeed);
  least.update(true);
  EXPECT_THROW(least.update(true), LossScaleExhausted);
}

TEST(LossScaler, OfAStaticScaleIsNotDynamic) {
  TrainingOptions options;
  options.loss_scale = 1024;
  const LossScaler scaler(options, Framework::torch);
  EXPECT_FALSE(scaler.is_dynamic());
  EXPECT_EQ(scaler.scale(), 1024.0);
}

// A resumed training goes on as the one that was not interrupted.
TEST(LossScaler, GoesOnFromASavedState) {
  for (const Framework framework : {Framework::torch, Framework::deepspeed}) {
    const TrainingOptions options = dynamic({65536.0, 3, 2, 1.0});
    for (unsigned pattern = 0; pattern < 1U << kSteps; pattern += 7) {
      LossScaler whole(options, framework);
      for (int step = 0; step < kSteps; ++step) {
        LossScaler resumed(options, framework);
        resumed.restore(whole.state());
        for (int rest = step; rest < kSteps; ++rest) {
          resumed.update(overflows(pattern, rest));
        }
        LossScaler uninterrupted = whole;
        for (int rest = step; rest < kSteps; ++rest) {
          uninterrupted.update(overflows(pattern, rest));
        }
        ASSERT_EQ(resumed.scale(), uninterrupted.scale());
        whole.update(overflows(pattern, step));
      }
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
