#include "sim/text/quantity.h"

#include <gtest/gtest.h>

#include <tuple>

namespace shardscope {
namespace {

double value(Dimension dimension, std::string_view text) {
  const ParsedQuantity quantity = parse_quantity(dimension, text);
  EXPECT_TRUE(quantity.value.has_value()) << text << " " << quantity.problem;
  return quantity.value.value_or(-1);
}

std::string problem(Dimension dimension, std::string_view text) {
  const ParsedQuantity quantity = parse_quantity(dimension, text);
  EXPECT_FALSE(quantity.value.has_value()) << text;
  const std::string nearest =
      quantity.nearest_unit.empty() ? "" : " (" + quantity.nearest_unit + ")";
  return quantity.problem + nearest;
}

TEST(Quantity, EveryDimensionInItsBaseUnit) {
  EXPECT_EQ(value(Dimension::rate, "10Gbps"), 1.25e9);
  EXPECT_EQ(value(Dimension::rate, "12.5GBps"), 12.5e9);
  EXPECT_EQ(value(Dimension::rate, "1KiBps"), 1024);
  EXPECT_EQ(value(Dimension::rate, "1Kibps"), 128);
  EXPECT_EQ(value(Dimension::time, "5us"), 5e-6);
  EXPECT_EQ(value(Dimension::time, "0us"), 0);
  EXPECT_EQ(value(Dimension::time, "2s"), 2);
  EXPECT_EQ(value(Dimension::size, "80GiB"), 80.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(value(Dimension::size, "40GB"), 40e9);
  EXPECT_EQ(value(Dimension::size, "7 kB"), 7000);
  EXPECT_EQ(value(Dimension::speed, "312Tf"), 312e12);
  EXPECT_EQ(value(Dimension::speed, "1e3f"), 1000);
}

TEST(Quantity, EqualQuantitiesInOtherUnitsAreTheSameDouble) {
  EXPECT_EQ(value(Dimension::time, "0.1us"), value(Dimension::time, "100ns"));
  EXPECT_EQ(value(Dimension::time, "0.3ms"), value(Dimension::time, "300us"));
  EXPECT_EQ(value(Dimension::rate, "0.1Gbps"), value(Dimension::rate, "12.5MBps"));
  EXPECT_EQ(value(Dimension::speed, "19.5Tf"), value(Dimension::speed, "19500Gf"));
}

TEST(Quantity, SaysWhatIsWrong) {
  EXPECT_EQ(problem(Dimension::rate, "10"), "has no unit");
  EXPECT_EQ(problem(Dimension::rate, "10Gpbs"), "has the unknown unit \"Gpbs\" (Gbps)");
  EXPECT_EQ(problem(Dimension::rate, "10us"), "has the unknown unit \"us\"");
  EXPECT_EQ(problem(Dimension::size, "64KB"), "has the unknown unit \"KB\" (kB)");
  EXPECT_EQ(problem(Dimension::time, "-5us"), "is negative");
  EXPECT_EQ(problem(Dimension::time, ""), "is not a quantity");
  EXPECT_EQ(problem(Dimension::time, "us"), "is not a quantity");
  EXPECT_EQ(problem(Dimension::time, "nans"), "is out of range");
  EXPECT_EQ(problem(Dimension::time, "infs"), "is out of range");
  EXPECT_EQ(problem(Dimension::rate, "1e999Gbps"), "is out of range");
  EXPECT_EQ(problem(Dimension::speed, "1e9999999999f"), "is out of range");
  EXPECT_EQ(problem(Dimension::speed, "1e308Tf"), "is out of range");
  for (const auto& [dimension, in, below, above] :
       {std::tuple(Dimension::rate, "8bps", "7.9bps", "1.01EBps"),
        std::tuple(Dimension::rate, "1EBps", "1e-300bps", "1e300bps"),
        std::tuple(Dimension::time, "1ps", "0.9ps", "1000001s"),
        std::tuple(Dimension::time, "1000000s", "1e-300s", "1e300s"),
        std::tuple(Dimension::speed, "1Ef", "0.99f", "1.01Ef")}) {
    EXPECT_GT(value(dimension, in), 0);
    EXPECT_EQ(problem(dimension, below), "is out of range");
    EXPECT_EQ(problem(dimension, above), "is out of range");
  }
  EXPECT_EQ(problem(Dimension::size, "0x10B"), "has the unknown unit \"x10B\"");
  EXPECT_EQ(parse_quantity(Dimension::size, "5").allowed, "a size such as \"64MiB\"");
}

TEST(Quantity, BytesAreWholeAndFitSixtyThreeBits) {
  EXPECT_EQ(whole_bytes(1536), 1536U);
  EXPECT_EQ(whole_bytes(0.7), 1U);
  EXPECT_EQ(whole_bytes(0.2), std::nullopt);
  EXPECT_EQ(whole_bytes(0x1p63), std::nullopt);
  EXPECT_EQ(whole_bytes(0x1p62), std::uint64_t{1} << 62);
}

}  // namespace
}  // namespace shardscope
