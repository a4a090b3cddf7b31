#include "sim/report/format.h"

#include <gtest/gtest.h>

#include <limits>

namespace shardscope {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(FormatTest, SignificantDigits) {
  EXPECT_EQ(significant(0), "0");
  EXPECT_EQ(significant(4.306), "4.31");
  EXPECT_EQ(significant(43.06), "43.1");
  EXPECT_EQ(significant(430.6), "431");
  EXPECT_EQ(significant(8014), "8014");
  EXPECT_EQ(significant(0.4306), "0.431");
  EXPECT_EQ(significant(0.0234), "0.023");
  EXPECT_EQ(significant(1e-9), "0.000");
  EXPECT_EQ(significant(-4.306), "-4.31");
  EXPECT_EQ(significant(0.1, 6, 6), "0.100000");
  EXPECT_EQ(significant(kNan), "nan");
  EXPECT_EQ(significant(kInfinity), "inf");
  EXPECT_EQ(significant(-kInfinity), "-inf");
}

TEST(FormatTest, RoundingThatAddsADigitDropsADecimal) {
  EXPECT_EQ(significant(9.996), "10.0");
  EXPECT_EQ(significant(99.96), "100");
  EXPECT_EQ(significant(0.9996), "1.00");
}

TEST(FormatTest, Bytes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "1 kB");
  EXPECT_EQ(format_bytes(788'736), "789 kB");
  EXPECT_EQ(format_bytes(999'600), "1 MB");
  EXPECT_EQ(format_bytes(85'899'345'920), "85.9 GB");
  EXPECT_EQ(format_bytes(1.6e13), "16 TB");
  EXPECT_EQ(format_bytes(1.8e19), "18000 PB");
}

TEST(FormatTest, Seconds) {
  EXPECT_EQ(format_seconds(0), "0 s");
  EXPECT_EQ(format_seconds(5e-6), "5 us");
  EXPECT_EQ(format_seconds(4.306e-3), "4.31 ms");
  EXPECT_EQ(format_seconds(2e-10), "0.2 ns");
  EXPECT_EQ(format_seconds(7200), "7200 s");
  EXPECT_EQ(format_seconds(kNan), "nan ns");
}

TEST(FormatTest, Rates) {
  EXPECT_EQ(format_bytes_per_s(1.25e9), "1.25 GB/s");
  EXPECT_EQ(format_bits_per_s(1.25e9), "10 Gb/s");
  EXPECT_EQ(format_bits_per_s(125), "1 kb/s");
  EXPECT_EQ(format_flops_per_s(312e12), "312 Tflop/s");
  EXPECT_EQ(format_bytes_per_s(2039e9), "2.04 TB/s");
  EXPECT_EQ(format_bytes_per_s(2039e9, 4), "2.039 TB/s");
  EXPECT_EQ(format_flops_per_s(312e12, 4), "312 Tflop/s");
}

TEST(FormatTest, CountsAndShares) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(394'368), "394,368");
  EXPECT_EQ(format_count(18'446'744'073'709'551'615U), "18,446,744,073,709,551,615");
  EXPECT_EQ(format_percent(0), "0 %");
  EXPECT_EQ(format_percent(0.004), "< 1 %");
  EXPECT_EQ(format_percent(0.571), "57 %");
  EXPECT_EQ(format_percent(kNan), "-");
}

TEST(FormatTest, UnitsOfFiguresToCompare) {
  EXPECT_EQ(byte_unit(6.3e6).name, "MB");
  EXPECT_EQ(byte_unit(0).name, "B");
  EXPECT_EQ(time_unit(0).name, "s");
  EXPECT_EQ(time_unit(0.9999).name, "s");
  EXPECT_EQ(time_unit(0.999).name, "ms");
}

TEST(FormatTest, Lists) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({"A"}), "A");
  EXPECT_EQ(listed({"A", "B"}), "A and B");
  EXPECT_EQ(listed({"A", "B", "C"}), "A, B and C");
}

TEST(FormatTest, WrapsAtWords) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree\n");
  EXPECT_EQ(wrapped("one two three", 9, "> ", 2), "> one two\n  three\n");
  EXPECT_EQ(wrapped("", 9), "\n");
}

TEST(FormatTest, WrapsAtSoftBreaks) {
  const std::string text = std::string("a 12-") + kSoftBreak + "34-" + kSoftBreak + "56, b";
  EXPECT_EQ(wrapped(text, 20), "a 12-34-56, b\n");
  EXPECT_EQ(wrapped(text, 8), "a 12-34-\n56, b\n");
  EXPECT_EQ(wrapped(text, 4), "a\n12-\n34-\n56,\nb\n");
}

TEST(FormatTest, CutsLongWords) {
  EXPECT_EQ(wrapped("a abcdefgh b", 3), "a\nabc\ndef\ngh\nb\n");
  EXPECT_EQ(wrapped("\u00e9\u00e9\u00e9\u00e9", 3), "\u00e9\u00e9\u00e9\n\u00e9\n");
}

}  // namespace
}  // namespace shardscope
