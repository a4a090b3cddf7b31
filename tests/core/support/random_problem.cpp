#include "tests/core/support/random_problem.h"

#include <sstream>

#include "core/data/generator.h"
#include "tests/core/support/text.h"

namespace shardscope::testing {

RandomProblem::RandomProblem(std::uint64_t seed) : seed(seed) {
  std::uint64_t draws = 0;
  const auto draw = [&](std::uint64_t below) { return splitmix64(seed, draws++) % below; };
  const std::uint64_t layers = 1 + draw(4);
  for (std::uint64_t i = 0; i <= layers; ++i) {
    model.widths.push_back(1 + draw(9));
  }
  model.activation = draw(2) == 0 ? Activation::relu : Activation::tanh;
  model.loss = draw(2) == 0 ? Loss::mse : Loss::cross_entropy;
  world_size = static_cast<int>(1 + draw(9));
  options.steps = 2;
  options.micro_batches = draw(2) == 0 ? 1 : 1 + draw(4);
  options.global_batch =
      static_cast<std::size_t>(world_size) * options.micro_batches * (1 + draw(4));
  options.precision = static_cast<DType>(draw(3));
  options.fp32_gradient_accumulation = draw(4) == 0;
  options.reduce_precision = draw(2) == 0 ? options.precision : static_cast<DType>(draw(3));
  options.activation_checkpointing = draw(2) == 0 ? 0 : 1 + draw(4);
  options.clip_norm = draw(3) == 0 ? 0.1 : 0.0;
  if (options.precision == DType::fp16 && draw(2) == 0) {
    options.dynamic_loss_scale = DynamicLossScale{.initial = 1024.0,
                                                  .growth_interval = 2,
                                                  .hysteresis = std::nullopt,
                                                  .minimum = std::nullopt};
  }
  options.loss_scale = draw(2) == 0 ? 1.0 : 64.0;
  options.optimizer.variant =
      draw(2) == 0 ? AdamOptions::Variant::adam : AdamOptions::Variant::adamw;
  options.optimizer.weight_decay = draw(2) == 0 ? 0.0 : 0.01;
}

std::string RandomProblem::text() const {
  const AdamOptions& adam = options.optimizer;
  std::ostringstream out;
  out << "seed " << seed << ": " << testing::text(model) << ", " << world_size << " ranks, batch "
      << options.global_batch << " in " << options.micro_batches << " micro-batches, "
      << name(options.precision) << " reduced in " << name(options.reduce_precision)
      << (options.fp32_gradient_accumulation ? ", accumulated in fp32" : "")
      << ", checkpoints every " << options.activation_checkpointing << " layers, clip "
      << options.clip_norm << (options.dynamic_loss_scale.has_value() ? ", dynamic scale" : "")
      << ", loss scale " << options.loss_scale
      << (adam.variant == AdamOptions::Variant::adam ? ", adam" : ", adamw") << ", weight decay "
      << adam.weight_decay;
  return out.str();
}

}  // namespace shardscope::testing
