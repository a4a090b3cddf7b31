// Training under a dynamic loss scale: against PyTorch, and what a skipped step leaves as it was.

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/data/synthetic.h"
#include "core/device/process_group.h"
#include "core/training/trainer.h"
#include "tests/core/support/comparison.h"
#include "tests/core/support/reference_problems.h"
#include "tests/core/support/small_strategies.h"

namespace shardscope::testing {
namespace {

// The reference averages in fp32 and rounds once. On one rank there is no sum, so that fp16 is the
// same; on two a sum in fp16 overflows where the average does not.
TEST(DynamicLossScale, SkipsTheStepsThatPytorchSkips) {
  const ReferenceProblem& problem = reference_problems()[1];
  const auto pytorch = read_pytorch_runs("tanh_mse_loss_scale");
  double worst = 0;
  for (const int world : {1, 2}) {
    const PytorchRun& expected = pytorch.at({"fp16", world});
    TrainingOptions options = problem.options(DType::fp16);
    options.reduce_precision = world == 1 ? DType::fp16 : DType::fp32;
    // With these DeepSpeed's rule is torch's.
    options.dynamic_loss_scale =
        DynamicLossScale{.initial = 0x1p20, .growth_interval = 4, .hysteresis = 1, .minimum = 0.0};
    for (const Strategy& strategy : small_strategies()) {
      SCOPED_TRACE(std::string(strategy.name) + ", world " + std::to_string(world));
      const TrainingRun run = train(strategy, problem.model(), options, world, problem, problem);
      std::vector<double> skipped;
      for (const UpdateReport& update : run.updates) {
        skipped.push_back(update.skipped ? 1 : 0);
      }
      EXPECT_EQ(skipped, expected.skipped);
      EXPECT_EQ(run.loss_scales, expected.loss_scale);
      const double error = largest_relative_error(run.losses, expected.loss);
      EXPECT_LE(error, tolerance(DType::fp16).relative_loss);
      const std::vector<double> first8(run.weights.begin(), run.weights.begin() + 8);
      EXPECT_LE(parameter_error(DType::fp16, first8, expected.first8),
                tolerance(DType::fp16).relative_l2);
      worst = std::max(worst, error);
    }
  }
  report("PyTorch", {.loss = worst});
}

// PyTorch trained on the loss times 2^-14, whose gradients underflow in fp16 unless a loss scale of
// 2^14 takes it back. A loss scale of 2^-14 and of 1 rounds the same gradients; they are unscaled
// by it, so that Adam, which sees only ratios, does the same with 2^14 times the epsilon.
TEST(StaticLossScale, LetsGradientsUnderflowAsInPytorch) {
  const ReferenceProblem& problem = reference_problems()[1];
  const auto pytorch = read_pytorch_runs("tanh_mse_underflow");
  const auto error = [&](const char* key, DType precision, double loss_scale) {
    PytorchRun expected = pytorch.at({key, 1});
    for (double& loss : expected.loss) {
      loss *= 0x1p14;
    }
    TrainingOptions options = problem.options(precision);
    options.loss_scale = loss_scale;
    options.optimizer.epsilon *= 0x1p14;
    Worst worst;
    for (const Strategy& strategy : small_strategies()) {
      SCOPED_TRACE(std::string(strategy.name) + ", " + key);
      const TrainingRun run = train(strategy, problem.model(), options, 1, problem, problem);
      const std::vector<double> first8(run.weights.begin(), run.weights.begin() + 8);
      const Worst of_run = {.loss = largest_relative_error(run.losses, expected.loss),
                            .parameters = parameter_error(precision, first8, expected.first8)};
      check(of_run, precision, "PyTorch");
      worst.take(of_run);
    }
    report(key, worst);
  };
  error("fp32", DType::fp32, 0x1p-14);
  error("bf16", DType::bf16, 0x1p-14);
  error("fp16", DType::fp16, 0x1p-14);
  error("fp16_scaled", DType::fp16, 1.0);
}

// What the rows of one rank do to one step.
enum class Outlier {
  target,  // All gradients of the rank overflow.
  input,   // Those of one input's weights do; they are zero, so that nothing else changes.
};

constexpr std::size_t kRowsPerRank = 4;
constexpr std::size_t kBadStep = 1;

class BadRows final : public WeightSource, public BatchSource {
 public:
  BadRows(const ModelSpec& model, std::size_t global_batch, Outlier outlier, int rank)
      : model_(model),
        weights_(model, 5),
        batches_(model, 5, global_batch),
        outlier_(outlier),
        bad_row_(static_cast<std::size_t>(rank) * kRowsPerRank) {}

  void read(std::size_t layer, LayerTensor which, std::size_t first, Tensor out) const override {
    weights_.read(layer, which, first, out);
    if (layer == 0 && which == LayerTensor::weight) {
      for (std::size_t i = 0; i < out.count; ++i) {
        out.fp32()[i] *= (first + i) % model_.input_width() == 0 ? 0.0F : 1.0F;
      }
    }
  }

  void read(std::size_t step, std::size_t first_row, std::size_t rows, Tensor x,
            Tensor y) const override {
    batches_.read(step, first_row, rows, x, y);
    for (std::size_t row = 0; row < rows; ++row) {
      const bool is_bad = step == kBadStep && first_row + row == bad_row_;
      if (outlier_ == Outlier::input) {
        x.fp32()[row * model_.input_width()] = is_bad ? 60000.0F : 0.0F;
      } else if (is_bad) {
        y.fp32()[row * model_.output_width()] = 1e30F;
      }
    }
  }

 private:
  const ModelSpec& model_;
  SyntheticWeights weights_;
  SyntheticBatches batches_;
  Outlier outlier_;
  std::size_t bad_row_;
};

// The same without its bad step.
class WithoutBadStep final : public BatchSource {
 public:
  explicit WithoutBadStep(const BatchSource& source) : source_(source) {}

  void read(std::size_t step, std::size_t first_row, std::size_t rows, Tensor x,
            Tensor y) const override {
    source_.read(step < kBadStep ? step : step + 1, first_row, rows, x, y);
  }

 private:
  const BatchSource& source_;
};

// The bytes of what a rank keeps from step to step.
std::vector<std::byte> states(const Trainer& trainer) {
  std::vector<std::byte> all;
  for (const Category category : {Category::parameters, Category::master_weights,
                                  Category::first_moment, Category::second_moment}) {
    const Tensor held = trainer.held(category);
    all.insert(all.end(), held.data, held.data + held.bytes());
  }
  return all;
}

// Of all ranks.
struct Record {
  std::vector<std::vector<std::byte>> states;  // By rank, at the end.
  std::vector<double> scales;                  // Of the first rank.
};

class Training {
 public:
  Training(const Strategy& strategy, const ModelSpec& model, int world)
      : strategy_(strategy), model_(model), world_(world) {
    options_.global_batch = kRowsPerRank * static_cast<std::size_t>(world);
    options_.micro_batches = 2;
    options_.precision = DType::fp16;
    options_.reduce_precision = DType::fp16;
    options_.clip_norm = 1.0;
    // The first overflow leaves the scale, so that a training without the step is the same.
    options_.dynamic_loss_scale = DynamicLossScale{
        .initial = 4096.0, .growth_interval = 100, .hysteresis = 2, .minimum = 1.0};
  }

  std::size_t global_batch() const { return options_.global_batch; }

  // `bad_step` is skipped on every rank, others on none.
  Record run(const WeightSource& weights, const BatchSource& batches, std::size_t steps,
             std::optional<std::size_t> bad_step) const {
    Record record;
    record.states.resize(static_cast<std::size_t>(world_));
    std::mutex mutex;
    run_local_cluster(world_, [&](LocalRank local) {
      RecordingDevice device(local);
      ProcessGroup world(device, local.transport.rank(), world_, Storage::real);
      Trainer trainer(strategy_, model_, options_, world, &batches);
      trainer.initialize(weights);
      for (std::size_t step = 0; step < steps; ++step) {
        const std::vector<std::byte> before = states(trainer);
        const std::size_t events = device.events().size();
        const StepDiagnostics diagnostics = trainer.step();
        const std::lock_guard lock(mutex);
        SCOPED_TRACE("rank " + std::to_string(local.transport.rank()) + ", step " +
                     std::to_string(step));
        EXPECT_EQ(diagnostics.update.skipped, bad_step == step);
        EXPECT_EQ(diagnostics.update.norm.has_value(), bad_step != step);
        EXPECT_EQ(states(trainer) == before, bad_step == step);
        if (bad_step == step) {
          check_skipped({device.events().begin() + static_cast<std::ptrdiff_t>(events),
                         device.events().end()});
        }
        if (local.transport.rank() == 0) {
          record.scales.push_back(diagnostics.loss_scale);
        }
      }
      record.states[static_cast<std::size_t>(local.transport.rank())] = states(trainer);
    });
    return record;
  }

 private:
  // Its update looks for overflow, asks the others where they know more, and does nothing else.
  void check_skipped(const std::vector<DeviceEvent>& events) const {
    std::vector<std::string> update;
    for (const DeviceEvent& event : events) {
      if (event.phase == Phase::optimizer) {
        update.push_back(event.what + " " + std::to_string(event.count));
      }
    }
    const bool asks = strategy_.cuts_shards();
    const std::vector<std::string> alone = {"compute 0"};
    const std::vector<std::string> together = {"compute 0", "all_reduce 1", "wait 0"};
    EXPECT_EQ(update, asks ? together : alone);
  }

  const Strategy& strategy_;
  const ModelSpec& model_;
  int world_;
  TrainingOptions options_;
};

TEST(DynamicLossScale, AnOverflowOfOneRankSkipsTheStepOfAll) {
  const ModelSpec model{{3, 6, 4, 2}, Activation::tanh, Loss::mse};
  std::vector<Strategy> strategies = random_strategies(1);
  strategies.insert(strategies.end(), small_strategies().begin(), small_strategies().end());
  for (const Strategy& strategy : strategies) {
    for (const int world : {1, 2, 3, 4}) {
      const Training training(strategy, model, world);
      for (const Outlier outlier : {Outlier::target, Outlier::input}) {
        for (int bad_rank = 0; bad_rank < world; ++bad_rank) {
          SCOPED_TRACE(std::string(strategy.name) + ", world " + std::to_string(world) +
                       (outlier == Outlier::target ? ", all" : ", some") +
                       " gradients overflow on rank " + std::to_string(bad_rank));
          const BadRows bad(model, training.global_batch(), outlier, bad_rank);
          const Record skipping = training.run(bad, bad, 4, kBadStep);
          EXPECT_EQ(skipping.scales, std::vector<double>(4, 4096.0));
          const Record without = training.run(bad, WithoutBadStep(bad), 3, std::nullopt);
          EXPECT_EQ(skipping.states, without.states) << "the steps after it are others";
        }
      }
    }
  }
}

// At the least scale DeepSpeed's second overflow ends the training on every rank.
TEST(DynamicLossScale, ThatIsExhaustedEndsTheTraining) {
  const ModelSpec model{{3, 4, 2}, Activation::tanh, Loss::mse};
  const BadRows bad(model, 8, Outlier::target, 1);
  TrainingOptions options;
  options.steps = 2;
  options.global_batch = 8;
  options.precision = DType::fp16;
  options.reduce_precision = DType::fp16;
  options.dynamic_loss_scale = DynamicLossScale{
      .initial = 1.0, .growth_interval = std::nullopt, .hysteresis = 1, .minimum = std::nullopt};
  for (const Strategy& strategy : small_strategies()) {
    const auto run = [&] { return train(strategy, model, options, 2, bad, bad); };
    if (strategy.framework == Framework::deepspeed) {
      EXPECT_THROW(run(), LossScaleExhausted) << strategy.name;
    } else {
      EXPECT_TRUE(run().updates[kBadStep].skipped) << strategy.name;
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
