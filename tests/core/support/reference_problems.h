// Three small problems whose training PyTorch was run on; its figures lie in tests/data.
//
//   relu_mse 16-64-64-8, tanh_mse 16-64-64-8, relu_ce 32-128-128-10; id = 1, 2, 3 in this order.
//
// All numbers are u(seed, i) = uniform(seed, i) of core/data/generator.h:
//   W_l = u(1000 id + 2 l, i) * {1/2, 1/4, 1/4}[l], b_l = u(1000 id + 2 l + 1, i) / 16
//   batch t = 0..19, x [48, in] = u(1000 id + 100 + t, i)
//   mse targets y_j = x_j / 2 - x_(out+j) / 2; labels: the largest of x_0 .. x_9
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/data/sources.h"
#include "core/training/options.h"

namespace shardscope::testing {

class ReferenceProblem final : public WeightSource, public BatchSource {
 public:
  static constexpr std::size_t kRows = 48;
  static constexpr std::size_t kSteps = 20;

  ReferenceProblem(std::string_view name, std::uint64_t id, ModelSpec model)
      : name_(name), id_(id), model_(std::move(model)) {}

  std::string_view name() const { return name_; }
  const ModelSpec& model() const { return model_; }

  /// How PyTorch trained it: Adam, loss scale 1024 with a half type.
  TrainingOptions options(DType precision) const;

  void read(std::size_t layer, LayerTensor which, std::size_t first, Tensor out) const override;
  void read(std::size_t step, std::size_t first_row, std::size_t rows, Tensor x,
            Tensor y) const override;

 private:
  std::string_view name_;
  std::uint64_t id_;
  ModelSpec model_;
};

const std::vector<ReferenceProblem>& reference_problems();

}  // namespace shardscope::testing
