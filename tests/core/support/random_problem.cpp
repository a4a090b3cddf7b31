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
  options.global_batch = static_cast<std::size_t>(world_size) * (1 + draw(4));
  options.precision = static_cast<DType>(draw(3));
  options.reduce_precision = draw(2) == 0 ? options.precision : DType::fp32;
  options.loss_scale = draw(2) == 0 ? 1.0 : 64.0;
  options.optimizer.variant =
      draw(2) == 0 ? AdamOptions::Variant::adam : AdamOptions::Variant::adamw;
  options.optimizer.weight_decay = draw(2) == 0 ? 0.0 : 0.01;
}

std::string RandomProblem::text() const {
  const AdamOptions& adam = options.optimizer;
  std::ostringstream out;
  out << "seed " << seed << ": " << testing::text(model) << ", " << world_size << " ranks, batch "
      << options.global_batch << ", " << name(options.precision) << " reduced in "
      << name(options.reduce_precision) << ", loss scale " << options.loss_scale
      << (adam.variant == AdamOptions::Variant::adam ? ", adam" : ", adamw") << ", weight decay "
      << adam.weight_decay;
  return out.str();
}

}  // namespace shardscope::testing
