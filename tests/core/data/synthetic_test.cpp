#include "core/data/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/core/support/reference_mlp.h"
#include "tests/core/support/training_run.h"

namespace shardscope::testing {
namespace {

TEST(SyntheticBatches, ARowDoesNotDependOnHowRowsAreSpread) {
  for (const Loss loss : {Loss::mse, Loss::cross_entropy}) {
    const ModelSpec model{{7, 4, 5}, Activation::relu, loss};
    constexpr std::size_t kRows = 12;
    const SyntheticBatches source(model, 3, kRows);
    for (const std::size_t step : {0, 1, 19}) {
      const Batch whole = read_batch(source, model, step, 0, kRows);
      for (const std::size_t parts : {1, 2, 3, 4, 6, 12}) {
        const std::size_t rows = kRows / parts;
        Batch joined;
        for (std::size_t part = 0; part < parts; ++part) {
          const Batch piece = read_batch(source, model, step, part * rows, rows);
          joined.x.insert(joined.x.end(), piece.x.begin(), piece.x.end());
          joined.y.insert(joined.y.end(), piece.y.begin(), piece.y.end());
          joined.labels.insert(joined.labels.end(), piece.labels.begin(), piece.labels.end());
        }
        EXPECT_EQ(joined.x, whole.x) << parts << " parts, step " << step;
        EXPECT_EQ(joined.y, whole.y) << parts << " parts, step " << step;
        EXPECT_EQ(joined.labels, whole.labels) << parts << " parts, step " << step;
      }
    }
    EXPECT_NE(read_batch(source, model, 0, 0, kRows).x, read_batch(source, model, 1, 0, kRows).x);
  }
}

TEST(SyntheticBatches, TargetsHaveUnitVarianceAndLabelsAreSpread) {
  constexpr std::size_t kRows = 4096;
  for (const std::size_t in : {4, 32, 128}) {
    const ModelSpec model{{in, 10}, Activation::relu, Loss::mse};
    const Batch batch = read_batch(SyntheticBatches(model, 1, kRows), model, 0, 0, kRows);
    double squares = 0;
    for (const float y : batch.y) {
      squares += static_cast<double>(y) * y / static_cast<double>(batch.y.size());
    }
    EXPECT_GT(squares, 0.4) << in << " inputs";
    EXPECT_LT(squares, 2.5) << in << " inputs";
  }
  const ModelSpec model{{32, 10}, Activation::relu, Loss::cross_entropy};
  std::map<std::int64_t, int> frequency;
  for (const std::int64_t label :
       read_batch(SyntheticBatches(model, 1, kRows), model, 0, 0, kRows).labels) {
    ASSERT_GE(label, 0);
    ASSERT_LT(label, 10);
    ++frequency[label];
  }
  EXPECT_GE(frequency.size(), 5U) << "the teacher knows few labels";
}

TEST(SyntheticWeights, AreUniformWithinTheInverseRootOfTheInputs) {
  const ModelSpec model{{64, 50, 3}, Activation::relu, Loss::mse};
  const SyntheticWeights source(model, 1);
  const std::vector<float> weights = read_weights(source, model);
  const auto check = [&](std::size_t layer) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(model.layer(layer).in));
    const auto begin = weights.begin() + static_cast<std::ptrdiff_t>(model.layer_offset(layer));
    const auto end = begin + static_cast<std::ptrdiff_t>(model.layer(layer).elements());
    EXPECT_LE(*std::max_element(begin, end), bound) << "layer " << layer;
    EXPECT_GT(*std::max_element(begin, end), 0.9 * bound) << "layer " << layer;
    EXPECT_GE(*std::min_element(begin, end), -bound) << "layer " << layer;
    EXPECT_LT(*std::min_element(begin, end), -0.9 * bound) << "layer " << layer;
  };
  check(0);
  check(1);
  EXPECT_NE(weights, read_weights(SyntheticWeights(model, 2), model));
}

// read_parameters crosses layers, tensors and its own blocks at any offset.
TEST(ReadParameters, GivesAnyPartOfTheFlatVector) {
  const ModelSpec model{{130, 140, 3}, Activation::relu, Loss::mse};
  const SyntheticWeights source(model, 1);
  const std::vector<float> whole = read_weights(source, model);
  ASSERT_GT(whole.size(), 16384U) << "one block holds all";
  const auto check = [&](std::size_t begin, std::size_t count) {
    std::vector<float> part(count);
    read_parameters(source, model, begin, Tensor::of(part.data(), count));
    EXPECT_TRUE(
        std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(begin)))
        << count << " from " << begin;
  };
  check(0, whole.size());
  for (const std::size_t parts : {2, 3, 7, 64}) {
    const std::size_t count = whole.size() / parts;
    for (std::size_t part = 0; part < parts; ++part) {
      check(part * count, count);
    }
  }
  for (std::size_t begin = whole.size() - 600; begin < whole.size(); ++begin) {
    check(begin, std::min<std::size_t>(5, whole.size() - begin));
  }
}

TEST(SyntheticTraining, TheLossFallsWithThePapersStrategiesInEveryPrecision) {
  const ModelSpec model{{128, 512, 512, 128}, Activation::relu, Loss::mse};
  TrainingOptions options;
  options.steps = 20;
  options.global_batch = 64;
  const SyntheticWeights weights(model, 1);
  const SyntheticBatches batches(model, 1, options.global_batch);
  for (const Strategy& strategy : paper_strategies()) {
    for (const DType precision : {DType::fp32, DType::bf16}) {
      SCOPED_TRACE(std::string(strategy.name) + " " + std::string(name(precision)));
      options.precision = precision;
      options.reduce_precision = precision;
      const TrainingRun run = train(strategy, model, options, 2, weights, batches);
      const double first = run.losses.front();
      EXPECT_GT(first, 0.3);
      EXPECT_LT(run.losses.back(), 0.85 * first) << "from " << first << " to " << run.losses.back();
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
