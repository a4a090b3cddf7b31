// The MLP of core/nn as its equations read: plain loops in fp64 and no sharding. With a rounding it
// follows mixed precision, every stored value rounded where the library stores one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/data/sources.h"
#include "core/nn/model.h"

namespace shardscope::testing {

/// Rows of a batch, as a BatchSource gives them; y or labels, whichever the loss wants.
struct Batch {
  std::size_t rows = 0;
  std::vector<float> x;
  std::vector<float> y;
  std::vector<std::int64_t> labels;
};

Batch read_batch(const BatchSource& source, const ModelSpec& model, std::size_t step,
                 std::size_t first_row, std::size_t rows);

/// Parameters in torch order, in fp32.
std::vector<float> read_weights(const WeightSource& source, const ModelSpec& model);

struct LossAndGradient {
  double loss = 0;
  std::vector<double> gradient;  // In torch order.
};

using Rounding = std::function<double(double)>;

inline double unrounded(double value) { return value; }

/// The mean loss over the rows, and its gradient times `scale` by the parameters.
LossAndGradient loss_and_gradient(const ModelSpec& model, std::span<const double> parameters,
                                  const Batch& batch, double scale, const Rounding& round);

}  // namespace shardscope::testing
