// What a sweep says, against crossings computed by hand and against a slow search of the same data.
#include <gtest/gtest.h>
#include <json/json.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "sim/sweep/crossings.h"
#include "sim/sweep/data.h"
#include "sim/sweep/findings.h"
#include "sim/sweep/grid.h"
#include "sim/sweep/summary.h"

namespace shardscope::testing {
namespace {

Sample known(double x, double value, double size = 1) { return {x, value, size, true}; }

TEST(Crossings, AreInterpolated) {
  const std::vector<Sample> samples = {known(1, 3), known(2, 1), known(4, -1), known(8, 1)};
  const std::vector<Crossing> linear = find_crossings(samples, Between::linear);
  ASSERT_EQ(linear.size(), 2U);
  EXPECT_DOUBLE_EQ(linear[0].at, 3);
  EXPECT_EQ(linear[0].low, 1U);
  EXPECT_EQ(linear[0].high, 2U);
  EXPECT_FALSE(linear[0].rising);
  EXPECT_DOUBLE_EQ(linear[1].at, 6);
  EXPECT_TRUE(linear[1].rising);
  const std::vector<Crossing> log = find_crossings(samples, Between::logarithmic);
  ASSERT_EQ(log.size(), 2U);
  EXPECT_DOUBLE_EQ(log[0].at, std::sqrt(8.0));
  EXPECT_DOUBLE_EQ(log[1].at, std::sqrt(32.0));
}

// Two steps a + b / x, whose crossing is exact however far the samples lie apart.
TEST(Crossings, OfTimesOverARateAreExact) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> draw(0.5, 2);
  for (int i = 0; i < 200; ++i) {
    const double at = std::pow(10, 3 * draw(random));
    const double slope = draw(random);
    const auto difference = [&](double x) { return slope / x - slope / at; };
    const double low = at / (1 + 100 * draw(random));
    const double high = at * (1 + 100 * draw(random));
    const std::vector<Crossing> found =
        find_crossings({known(low, difference(low), 1e-9), known(high, difference(high), 1e-9)},
                       Between::reciprocal);
    ASSERT_EQ(found.size(), 1U) << "case " << i;
    EXPECT_NEAR(found[0].at, at, 1e-9 * at) << "case " << i;
    EXPECT_FALSE(found[0].rising);
  }
}

TEST(Crossings, AnEqualStretchCountsOnceAndInItsMiddle) {
  const std::vector<Crossing> found =
      find_crossings({known(1, 1), known(2, 0), known(4, 1e-10), known(5, -1)}, Between::linear);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].at, 3);
  EXPECT_EQ(found[0].low, 0U);
  EXPECT_EQ(found[0].high, 3U);
  EXPECT_TRUE(find_crossings({known(1, 1), known(2, 0), known(3, 1)}, Between::linear).empty());
  EXPECT_TRUE(find_crossings({known(1, 0), known(2, 0), known(3, 1)}, Between::linear).empty());
}

TEST(Crossings, AreNotSoughtAcrossAGap) {
  EXPECT_TRUE(
      find_crossings({known(1, 1), Sample{2, 0, 0, false}, known(3, -1)}, Between::linear).empty());
  EXPECT_TRUE(find_crossings({}, Between::logarithmic).empty());
}

// A piecewise linear function evaluated on a fine mesh changes its sign where find_crossings says.
TEST(Crossings, AgreeWithASearchOnAFineMesh) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> draw(-1, 1);
    std::vector<Sample> samples;
    double x = 1;
    for (std::size_t i = 0; i < 2 + seed % 9; ++i) {
      samples.push_back(known(x, draw(random), 1e-6));
      x *= 1.5 + 0.4 * draw(random);
    }
    const auto between = static_cast<Between>(seed % 3);
    std::vector<double> twin;
    constexpr int kMesh = 20'000;
    for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
      for (int k = 0; k < kMesh; ++k) {
        const auto value = [&](int step) {
          return samples[i].value + (samples[i + 1].value - samples[i].value) * step / kMesh;
        };
        if ((value(k) > 0) != (value(k + 1) > 0)) {
          const double part = (k + 0.5) / kMesh;
          const double low = samples[i].x;
          const double high = samples[i + 1].x;
          twin.push_back(between == Between::linear ? low + (high - low) * part
                         : between == Between::logarithmic
                             ? low * std::pow(high / low, part)
                             : 1 / (1 / low + (1 / high - 1 / low) * part));
        }
      }
    }
    const std::vector<Crossing> found = find_crossings(samples, between);
    ASSERT_EQ(found.size(), twin.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].at, twin[i], 1e-4 * twin[i]);
    }
  }
}

// Doubling shortens a step of 1 + b / x by 5 % at x = 9 b, however coarsely it is sampled.
TEST(Saturation, OfAStraightLineOverTheInverseIsExact) {
  for (const double b : {0.5, 1.0, 7.0}) {
    for (const double ratio : {1.1, 2.0, 30.0}) {
      std::vector<Sample> samples;
      for (double x = 0.1; x < 5000; x *= ratio) {
        samples.push_back(known(x, 1 + b / x));
      }
      const auto found = find_saturation(samples, 0.05);
      ASSERT_TRUE(found.has_value());
      EXPECT_NEAR(found->at, 9 * b, 1e-6);
      EXPECT_LE(samples[found->low].x, found->at);
      EXPECT_GE(samples[found->high].x, found->at);
    }
  }
}

TEST(Saturation, ByHand) {
  // From 2 to 4 the duration is 0.84 + 0.32 / x: doubling brings 8 % at 2, 4.3 % at 4.
  const auto found =
      find_saturation({known(1, 2), known(2, 1), known(4, 0.92), known(8, 0.915)}, 0.05);
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->at, 0.32 * 0.45 / (0.05 * 0.84), 1e-9);
  EXPECT_EQ(found->low, 1U);
  EXPECT_EQ(found->high, 2U);
  // Over 5 % up to 4 and 1 % from there on.
  EXPECT_EQ(find_saturation({known(1, 2), known(2, 1), known(4, 0.9), known(8, 0.891)}, 0.05)->at,
            4);
  // From the start on, and never.
  EXPECT_EQ(find_saturation({known(1, 1), known(2, 0.99)}, 0.05)->at, 1);
  EXPECT_FALSE(find_saturation({known(1, 1), known(2, 0.9)}, 0.05).has_value());
  // A gain behind the stretch that gains little counts.
  EXPECT_FALSE(find_saturation({known(1, 1), known(2, 0.99), known(4, 0.5)}, 0.05).has_value());
  EXPECT_FALSE(find_saturation({known(1, 1)}, 0.05).has_value());
  EXPECT_FALSE(find_saturation({}, 0.05).has_value());
}

Row completed(double compute_s, double exposed_s) {
  Row row;
  row.outcome = Outcome::completed;
  row.forward_s = compute_s;
  row.exposed_communication_s = exposed_s;
  row.wall_s = compute_s + exposed_s;
  return row;
}

Row without(Outcome outcome) {
  Row row;
  row.outcome = outcome;
  row.reason = "because";
  return row;
}

// Two bandwidth-like axes' worth of points: bandwidth 1, 2, 4, 8 GB/s with 2 and 4 ranks.
class Findings : public ::testing::Test {
 protected:
  Findings() {
    sweep.name = "by hand";
    sweep.arithmetic = "REAL";
    sweep.strategies = {"DDP", "ZERO1"};
    sweep.axes = {make_axis({"cluster.link.bandwidth", FieldKind::quantity, Dimension::rate},
                            Scale::log, {"1GBps", "2GBps", "4GBps", "8GBps"}),
                  make_axis({"cluster.world_size", FieldKind::whole}, Scale::linear, {"2", "4"})};
    rows.resize(sweep.task_count());
    for (std::size_t point = 0; point < sweep.point_count(); ++point) {
      const double bandwidth = sweep.axes[0].values[point / 2].number / 1e9;
      const double ranks = sweep.axes[1].values[point % 2].number;
      rows[2 * point] = completed(1, ranks / bandwidth);
      rows[2 * point + 1] = completed(0.5, 1.5 * ranks / bandwidth);
    }
  }

  std::vector<Finding> of(FindingKind kind) const {
    std::vector<Finding> found = find_all(Grid(sweep, rows));
    std::erase_if(found, [&](const Finding& finding) { return finding.kind != kind; });
    return found;
  }

  Sweep sweep;
  std::vector<Row> rows;
};

TEST_F(Findings, Overtaking) {
  // 1 + r/b against 0.5 + 1.5 r/b: equal at b = r. On 2 ranks at a point, on 4 at another.
  const std::vector<Finding> found = of(FindingKind::overtakes);
  // Along the ranks the lines begin or end where both are equal.
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].axis, 0U);
  EXPECT_EQ(found[0].strategies, (std::vector<std::size_t>{1, 0}));
  EXPECT_DOUBLE_EQ(found[0].at, 2e9);
  EXPECT_TRUE(found[0].leads);
  EXPECT_EQ(found[0].fixed[1], 0U);
  EXPECT_DOUBLE_EQ(found[1].at, 4e9);
  EXPECT_EQ(sentence(sweep, found[0]),
            "ZERO1 overtakes DDP at cluster.link.bandwidth=2GBps (between 1GBps and 4GBps) with "
            "cluster.world_size=2, and none is faster from there on.");
}

TEST_F(Findings, TiesAreNoOvertaking) {
  // DDP and ZERO1 change places at every point, by less than 0.1 % of a step.
  for (std::size_t point = 0; point < sweep.point_count(); ++point) {
    const double noise = point / 2 % 2 == 0 ? 4e-4 : -4e-4;
    rows[2 * point] = completed(1 + noise, 1);
    rows[2 * point + 1] = completed(1 - noise, 1);
  }
  EXPECT_TRUE(of(FindingKind::overtakes).empty());
  const Grid grid(sweep, rows);
  const std::string summary = sweep_summary(grid, find_all(grid));
  EXPECT_NE(
      summary.find("Fastest, of 8 points: DDP at 8 and ZERO1 at 8. Those as fast as the fastest,\n"
                   "within 0.1 %, count as well.\n"),
      std::string::npos)
      << summary;
}

TEST_F(Findings, AStretchOfTiesBetweenASlowerAndAFasterOneIsOneOvertaking) {
  for (std::size_t point = 0; point < sweep.point_count(); ++point) {
    constexpr double kAhead[] = {-0.1, 4e-4, -4e-4, 0.1};  // By bandwidth.
    rows[2 * point] = completed(1 + kAhead[point / 2], 1);
    rows[2 * point + 1] = completed(1, 1);
  }
  const std::vector<Finding> found = of(FindingKind::overtakes);
  ASSERT_EQ(found.size(), 2U);  // One for each number of ranks.
  EXPECT_EQ(found[0].strategies, (std::vector<std::size_t>{1, 0}));
  EXPECT_DOUBLE_EQ(found[0].at, 1e9 / ((0.5 + 0.25) / 2));  // Between 2 and 4 GB/s.
  EXPECT_EQ(found[0].low, 0U);
  EXPECT_EQ(found[0].high, 3U);
}

TEST_F(Findings, CommunicationAgainstCompute) {
  // DDP: r/b against 1, equal at b = r: at a point, which exceeds nothing. ZERO1: 1.5 r/b against
  // 0.5, equal at b = 3 r; on 4 ranks beyond the last point.
  const std::vector<Finding> found = of(FindingKind::communication_exceeds_compute);
  const auto along = [&](std::size_t axis, std::size_t strategy) {
    return std::find_if(found.begin(), found.end(), [&](const Finding& finding) {
      return finding.axis == axis && finding.strategies.front() == strategy;
    });
  };
  ASSERT_NE(along(0, 0), found.end());
  EXPECT_DOUBLE_EQ(along(0, 0)->at, 2e9);
  EXPECT_FALSE(along(0, 0)->above);
  ASSERT_NE(along(0, 1), found.end());
  EXPECT_NEAR(along(0, 1)->at, 6e9, 1);
  ASSERT_NE(along(1, 1), found.end());
  EXPECT_TRUE(along(1, 1)->above);
  EXPECT_DOUBLE_EQ(along(1, 1)->at, 2 + 2 * 0.125 / 0.375);
}

TEST_F(Findings, OnlyRatesAndSpeedsSaturate) {
  for (const Finding& finding : of(FindingKind::saturates)) {
    EXPECT_EQ(finding.axis, 0U);
  }
  for (Row& row : rows) {
    row = completed(1, 0.001);
  }
  EXPECT_EQ(of(FindingKind::saturates).size(), 4U);  // Two strategies, two numbers of ranks.
}

TEST_F(Findings, WhatSaturatesFromTheFirstValueOnHasNoPlace) {
  for (Row& row : rows) {
    row = completed(1, 0.001);
  }
  const std::vector<Finding> found = of(FindingKind::saturates);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(sentence(sweep, found[0]),
            "Doubling cluster.link.bandwidth shortens a step of DDP by less than 5 % at any value "
            "from 1GBps up (already at the first) with cluster.world_size=2.");
  const std::string summary = sweep_summary(Grid(sweep, rows), found);
  EXPECT_NE(summary.find("  DDP                 any  any\n"), std::string::npos) << summary;
  EXPECT_NE(summary.find("any: at any value from 1GBps up (already at the first).\n"),
            std::string::npos)
      << summary;
  // From the first that completed on: there is no telling what was before it.
  rows[0] = without(Outcome::failed);
  EXPECT_EQ(sentence(sweep, of(FindingKind::saturates)[0]),
            "From cluster.link.bandwidth=2GBps on, doubling it shortens a step of DDP by less "
            "than 5 % with cluster.world_size=2.");
}

TEST_F(Findings, MemoryInAsFewRangesAsSayIt) {
  const auto lose = [&](std::size_t point, std::size_t strategy) {
    rows[2 * point + strategy] = without(Outcome::out_of_memory);
  };
  lose(0, 0);
  lose(1, 0);
  lose(2, 0);
  lose(3, 0);  // DDP up to 2 GB/s, whatever the ranks.
  std::vector<Finding> found = of(FindingKind::out_of_memory);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].axis, 0U);
  EXPECT_EQ(found[0].low, 0U);
  EXPECT_EQ(found[0].high, 1U);
  EXPECT_DOUBLE_EQ(found[0].at, 2e9);
  EXPECT_FALSE(found[0].fixed[1].has_value());
  for (std::size_t point = 0; point < 4; ++point) {
    lose(point, 1);  // ZERO1 as well.
  }
  found = of(FindingKind::out_of_memory);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(sentence(sweep, found[0]),
            "DDP and ZERO1 run out of memory at cluster.link.bandwidth from 1GBps to 2GBps.");
  rows[2] = without(Outcome::failed);  // Unknown, and no reason to split the range.
  lose(6, 0);
  found = of(FindingKind::out_of_memory);
  ASSERT_EQ(found.size(), 4U);  // DDP at both numbers of ranks, at 8 GB/s alone on 2; and ZERO1.
  for (std::size_t point = 0; point < 8; ++point) {
    lose(point, 0);
  }
  EXPECT_EQ(sentence(sweep, of(FindingKind::out_of_memory)[0]),
            "DDP runs out of memory at every point.");
}

TEST_F(Findings, NothingIsFoundBesideWhatDidNotComplete) {
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    rows[i] = without(Outcome::failed);
  }
  EXPECT_TRUE(of(FindingKind::overtakes).empty());
  EXPECT_TRUE(of(FindingKind::out_of_memory).empty());
  rows.assign(rows.size(), without(Outcome::failed));
  EXPECT_TRUE(find_all(Grid(sweep, rows)).empty());
  const std::string summary = sweep_summary(Grid(sweep, rows), {});
  EXPECT_NE(summary.find("No point completed."), std::string::npos) << summary;
  EXPECT_NE(
      summary.find("  16 rows: because; for example DDP with cluster.link.bandwidth=1GBps and\n"
                   "  cluster.world_size=2; ZERO1 with "),
      std::string::npos)
      << summary;
}

TEST_F(Findings, FailuresAreGroupedByTheirReason) {
  rows[3] = without(Outcome::failed);
  rows[6] = without(Outcome::failed);
  rows[6].reason = "another";
  rows[8] = without(Outcome::failed);
  const std::string summary = sweep_summary(Grid(sweep, rows), {});
  const std::string failed = summary.substr(summary.find("What failed"));
  EXPECT_EQ(failed,
            "What failed\n"
            "  2 rows: because; ZERO1 with cluster.link.bandwidth=1GBps and\n"
            "  cluster.world_size=4; DDP with cluster.link.bandwidth=4GBps and\n"
            "  cluster.world_size=2\n"
            "  1 row: another; DDP with cluster.link.bandwidth=2GBps and cluster.world_size=4\n");
}

TEST_F(Findings, OneEmptyLineBetweenPartsOfASummary) {
  const auto expect_no_gaps = [&] {
    const Grid grid(sweep, rows);
    const std::string summary = sweep_summary(grid, find_all(grid));
    EXPECT_EQ(summary.find("\n\n\n"), std::string::npos) << summary;
    EXPECT_FALSE(summary.ends_with("\n\n")) << summary;
  };
  expect_no_gaps();
  rows[0] = without(Outcome::out_of_memory);
  rows[1] = without(Outcome::failed);
  expect_no_gaps();
  sweep.strategies = {"DDP"};
  rows.assign(sweep.task_count(), completed(1, 1));
  expect_no_gaps();
  rows[0] = without(Outcome::out_of_memory);
  expect_no_gaps();
  rows.assign(sweep.task_count(), without(Outcome::failed));
  expect_no_gaps();
  sweep.shard = {1, 2};
  expect_no_gaps();
}

TEST_F(Findings, AsData) {
  rows[0].loss = std::nan("");
  const Grid grid(sweep, rows);
  const Json::Value data = page_data(grid, find_all(grid));
  EXPECT_EQ(data["kind"], "sweep");
  EXPECT_EQ(data["sweep"]["axes"][0]["unit"], "B/s");
  EXPECT_EQ(data["sweep"]["axes"][0]["scale"], "log");
  EXPECT_EQ(data["sweep"]["axes"][0]["values"][1], 2e9);
  EXPECT_EQ(data["sweep"]["axes"][0]["labels"][1], "2GBps");
  ASSERT_EQ(data["sweep"]["points"].size(), 16U);
  EXPECT_EQ(data["sweep"]["points"][3]["axis"][1].asInt(), 1);
  EXPECT_EQ(data["sweep"]["points"][3]["strategy"], "ZERO1");
  EXPECT_TRUE(data["sweep"]["points"][0]["loss"].isNull());
  const Json::Value& finding = data["sweep"]["findings"][0];
  EXPECT_EQ(finding["kind"], "overtakes");
  EXPECT_EQ(finding["axis"].asInt(), 0);
  EXPECT_EQ(finding["between"][0], 1e9);
  EXPECT_EQ(finding["strategies"][0], "ZERO1");
  EXPECT_EQ(finding["fixed"]["cluster.world_size"], "2");
}

TEST_F(Findings, TheSummaryOfManyPointsIsAPage) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> draw(0.1, 1);
  sweep.strategies = {"DDP", "NAIVE_ZERO", "ZERO1", "ZERO2", "ZERO3"};
  sweep.axes[1] = make_axis({"cluster.world_size", FieldKind::whole}, Scale::log,
                            {"2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"});
  rows.resize(sweep.task_count());
  for (Row& row : rows) {
    row = completed(draw(random), draw(random));
  }
  const Grid grid(sweep, rows);
  const std::string summary = sweep_summary(grid, find_all(grid));
  EXPECT_LE(std::count(summary.begin(), summary.end(), '\n'), 66) << summary;
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < summary.size();) {
    const std::size_t end = summary.find('\n', begin);
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  EXPECT_LE(longest, 80U) << summary;
}

}  // namespace
}  // namespace shardscope::testing
