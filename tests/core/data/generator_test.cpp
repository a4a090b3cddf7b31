// The generator, and through it the reference problems, reproduce what PyTorch was trained on.

#include "core/data/generator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <vector>

#include "tests/core/support/pytorch.h"
#include "tests/core/support/reference_mlp.h"
#include "tests/core/support/reference_problems.h"

namespace shardscope::testing {
namespace {

template <typename T>
std::uint64_t fnv1a(const std::vector<T>& values) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::byte byte : std::as_bytes(std::span(values))) {
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3ULL;
  }
  return hash;
}

TEST(Generator, GivesSplitmix64sPublishedOutputs) {
  EXPECT_EQ(splitmix64(0, 0), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(splitmix64(0, 1), 0x6e789e6aa1b965f4ULL);
  EXPECT_EQ(splitmix64(0, 2), 0x06c45d188009454fULL);
}

TEST(Generator, IsUniformInTheHalfOpenInterval) {
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const float value = uniform(5, static_cast<std::uint64_t>(i));
    ASSERT_GE(value, -1.0F);
    ASSERT_LT(value, 1.0F);
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1.0 / 3.0, 0.01);
}

TEST(Generator, MakesTheReferenceProblemsBitForBit) {
  const auto hashes = read_reference_hashes();
  ASSERT_EQ(hashes.size(), reference_problems().size());
  for (const ReferenceProblem& problem : reference_problems()) {
    SCOPED_TRACE(std::string(problem.name()));
    const ReferenceHashes& expected = hashes.at(std::string(problem.name()));
    EXPECT_EQ(fnv1a(read_weights(problem, problem.model())), expected.weights);
    ASSERT_EQ(expected.batches.size(), ReferenceProblem::kSteps);
    for (std::size_t step = 0; step < ReferenceProblem::kSteps; ++step) {
      const Batch batch = read_batch(problem, problem.model(), step, 0, ReferenceProblem::kRows);
      EXPECT_EQ(fnv1a(batch.x), expected.batches[step].first) << "inputs of step " << step;
      const std::vector<std::int32_t> labels(batch.labels.begin(), batch.labels.end());
      EXPECT_EQ(labels.empty() ? fnv1a(batch.y) : fnv1a(labels), expected.batches[step].second)
          << "targets of step " << step;
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
