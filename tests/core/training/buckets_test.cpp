// Buckets of a model of eight tensors, as the frameworks' rules put them together by hand.

#include "core/training/buckets.h"

#include <gtest/gtest.h>

#include <ostream>
#include <vector>

namespace shardscope::testing {
namespace {

constexpr std::size_t kEnd = Bucket::kEndOfBackward;

// Tensors W0, b0, .. W3, b3 of 4 and 2 elements, handed on last to first.
const ModelSpec& model() {
  static const ModelSpec four_layers{{2, 2, 2, 2, 2}, Activation::relu, Loss::mse};
  return four_layers;
}

struct Expected {
  std::size_t first_tensor;
  std::size_t last_tensor;
  std::size_t offset;
  std::size_t count;
  std::size_t closed_by;
  bool oversize = false;

  friend bool operator==(const Expected&, const Expected&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Expected& bucket) {
    return out << "tensors " << bucket.first_tensor << " to " << bucket.last_tensor << ", "
               << bucket.count << " from " << bucket.offset << ", closed by " << bucket.closed_by
               << (bucket.oversize ? ", oversize" : "");
  }
};

std::vector<Expected> buckets(const BucketRule& rule, std::size_t gradient_bytes = 4) {
  std::vector<Expected> all;
  const ShardGeometry geometry(*find_strategy("DDP"), model(), 2);
  for (const Bucket& bucket : make_buckets(rule, geometry, gradient_bytes)) {
    EXPECT_EQ(bucket.layers.first, bucket.first_tensor / 2);
    EXPECT_EQ(bucket.layers.last, bucket.last_tensor / 2);
    all.push_back({bucket.first_tensor, bucket.last_tensor, bucket.offset, bucket.count,
                   bucket.closed_by, bucket.oversize});
  }
  return all;
}

BucketRule at_size(std::uint64_t first_bytes, std::uint64_t bytes) {
  return {.kind = BucketRule::Kind::closed_at_size,
          .bytes = bytes,
          .first_bytes = first_bytes,
          .elements = 0};
}

BucketRule before_it(std::uint64_t elements) {
  return {.kind = BucketRule::Kind::closed_before_it,
          .bytes = 0,
          .first_bytes = 0,
          .elements = elements};
}

using All = std::vector<Expected>;

TEST(Buckets, OfTheModelAreOne) { EXPECT_EQ(buckets({}), (All{{0, 7, 0, 24, 0}})); }

TEST(Buckets, OfLayersCloseWithTheirWeights) {
  EXPECT_EQ(buckets({.kind = BucketRule::Kind::layer}),
            (All{{6, 7, 18, 6, 6}, {4, 5, 12, 6, 4}, {2, 3, 6, 6, 2}, {0, 1, 0, 6, 0}}));
}

// b3 alone reaches 8 bytes; W3 b2, W2 b1 and W1 b0 reach 24; W0 does not, and waits for the end.
TEST(Buckets, OfTorchCloseWithTheTensorThatReachesTheSize) {
  EXPECT_EQ(buckets(at_size(8, 24)), (All{{7, 7, 22, 2, 7},
                                          {5, 6, 16, 6, 5},
                                          {3, 4, 10, 6, 3},
                                          {1, 2, 4, 6, 1},
                                          {0, 0, 0, 4, kEnd}}));
}

// One byte more and each takes a further tensor: b3 W3 | b2 W2 b1 (32 bytes of 25) | W1 b0 W0.
TEST(Buckets, OfTorchAreAsLargeAsTheirLastTensorMakesThem) {
  EXPECT_EQ(buckets(at_size(9, 25)), (All{{6, 7, 18, 6, 6}, {3, 5, 10, 8, 3}, {0, 2, 0, 10, 0}}));
}

// In bf16 the same bytes are twice the elements.
TEST(Buckets, OfTorchAreCountedInTheGradientsType) {
  EXPECT_EQ(buckets(at_size(8, 24), 2), buckets(at_size(16, 48), 4));
}

TEST(Buckets, OfTorchThatEveryTensorFillsAreTensors) {
  const All tensors = buckets(at_size(1, 1));
  ASSERT_EQ(tensors.size(), 8U);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(tensors[i].first_tensor, 7 - i);
    EXPECT_EQ(tensors[i].closed_by, 7 - i);
  }
}

TEST(Buckets, OfTorchThatNothingFillsWaitForTheEnd) {
  EXPECT_EQ(buckets(at_size(97, 97)), (All{{0, 7, 0, 24, kEnd}}));
  EXPECT_EQ(buckets(at_size(96, 97)), (All{{0, 7, 0, 24, 0}}));
}

// b3 W3 fill 6 exactly; the next tensor, b2, shows it.
TEST(Buckets, OfDeepSpeedCloseBeforeTheTensorThatWouldOverfillThem) {
  EXPECT_EQ(buckets(before_it(6)),
            (All{{6, 7, 18, 6, 5}, {4, 5, 12, 6, 3}, {2, 3, 6, 6, 1}, {0, 1, 0, 6, kEnd}}));
  // 7 has no room for a further one, 8 has: b3 W3 b2 | W2 b1 | ...
  EXPECT_EQ(buckets(before_it(7)), buckets(before_it(6)));
  EXPECT_EQ(buckets(before_it(8)),
            (All{{5, 7, 16, 8, 4}, {3, 4, 10, 6, 2}, {1, 2, 4, 6, 0}, {0, 0, 0, 4, kEnd}}));
}

TEST(Buckets, OfDeepSpeedLetALargeTensorGoAlone) {
  EXPECT_EQ(buckets(before_it(3)), (All{{7, 7, 22, 2, 6},
                                        {6, 6, 18, 4, 5, true},
                                        {5, 5, 16, 2, 4},
                                        {4, 4, 12, 4, 3, true},
                                        {3, 3, 10, 2, 2},
                                        {2, 2, 6, 4, 1, true},
                                        {1, 1, 4, 2, 0},
                                        {0, 0, 0, 4, kEnd, true}}));
}

TEST(Buckets, OfDeepSpeedThatNothingOverfillsWaitForTheEnd) {
  EXPECT_EQ(buckets(before_it(24)), (All{{0, 7, 0, 24, kEnd}}));
  EXPECT_EQ(buckets(before_it(500'000'000)), (All{{0, 7, 0, 24, kEnd}}));
}

}  // namespace
}  // namespace shardscope::testing
