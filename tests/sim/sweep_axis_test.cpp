// Axes and the points they make: what a range and a list mean, and what is wrong with one.
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "scenarios/scenario.pb.h"
#include "sim/scenario/quantity_fields.h"
#include "sim/scenario/reader.h"
#include "sim/sweep/axis.h"
#include "sim/sweep/plan.h"
#include "sim/sweep/range.h"
#include "sim/sweep/sweep.h"
#include "sim/text/text_file.h"

namespace shardscope::testing {
namespace {

const std::string kScenario = R"(name: "swept"
model { layers: [6, 10, 4] }
training { steps: 3 global_batch: 8 precision: BF16 }
cluster {
  world_size: 4
  device { preset: "classroom" }
  link { bandwidth: "10Gbps" latency: "5us" }
}
)";

PointSource source_of(const std::string& text, const std::vector<std::string>& set = {}) {
  PointSource source{{"x.textproto", text}, {}, SHARDSCOPE_SOURCE_DIR "/platforms"};
  for (const std::string& assignment : set) {
    source.overrides.push_back({"--set " + assignment, assignment});
  }
  return source;
}

std::string lines(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) {
    text += format_fault(fault) + "\n";
  }
  return text;
}

Sweep plan(const PointSource& source, const std::vector<std::string>& axes) {
  std::vector<Fault> faults;
  const std::optional<Sweep> sweep = plan_sweep(source, axes, "1", faults);
  EXPECT_TRUE(sweep.has_value()) << lines(faults);
  return sweep.value_or(Sweep{});
}

std::string faults_of(const PointSource& source, const std::vector<std::string>& axes) {
  std::vector<Fault> faults;
  EXPECT_FALSE(plan_sweep(source, axes, "1", faults).has_value());
  EXPECT_FALSE(faults.empty());
  return lines(faults);
}

std::string faults_of(const std::vector<std::string>& axes) {
  return faults_of(source_of(kScenario), axes);
}

Axis axis_of(const std::string& argument) {
  std::vector<Fault> faults;
  const std::optional<AxisText> text = parse_axis_argument(argument, faults);
  const std::optional<Axis> axis = text ? read_axis(*text, faults) : std::nullopt;
  EXPECT_TRUE(axis.has_value()) << lines(faults);
  return axis.value_or(Axis{});
}

std::vector<std::string> texts_of(const std::string& argument) {
  std::vector<std::string> texts;
  for (const AxisValue& value : axis_of(argument).values) {
    texts.push_back(value.text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Axis, RangesKeepTheirUnitAndTheirEnds) {
  EXPECT_EQ(texts_of("cluster.link.bandwidth=1Gbps..100Gbps:3:log"),
            (Texts{"1Gbps", "10Gbps", "100Gbps"}));
  EXPECT_EQ(texts_of("cluster.link.bandwidth=1Gbps..400Gbps:4:log"),
            (Texts{"1Gbps", "7.36806Gbps", "54.2884Gbps", "400Gbps"}));
  EXPECT_EQ(texts_of("cluster.link.latency=0us..10us:5"),
            (Texts{"0us", "2.5us", "5us", "7.5us", "10us"}));
  EXPECT_EQ(texts_of("cluster.link.bandwidth=1Gbps..1GBps:3:LINEAR"),
            (Texts{"1Gbps", "4.5Gbps", "1GBps"}));
  EXPECT_EQ(texts_of("training.optimizer.beta1=0.1..0.9:5"),
            (Texts{"0.1", "0.3", "0.5", "0.7", "0.9"}));
  EXPECT_EQ(texts_of("training.optimizer.epsilon=1e-8..1e-6:3:log"),
            (Texts{"1e-8", "1e-07", "1e-6"}));
  EXPECT_EQ(texts_of("cluster.device.memory=1MiB..2MiB:2"), (Texts{"1MiB", "2MiB"}));
}

TEST(Axis, RangesOfWholeNumbersAreRoundedAndDistinct) {
  EXPECT_EQ(texts_of("cluster.world_size=1..64:7:log"),
            (Texts{"1", "2", "4", "8", "16", "32", "64"}));
  EXPECT_EQ(texts_of("cluster.world_size=1..4:100"), (Texts{"1", "2", "3", "4"}));
  EXPECT_EQ(texts_of("cluster.world_size=1..10:4"), (Texts{"1", "4", "7", "10"}));
  EXPECT_EQ(texts_of("model.seed=9223372036854775805..9223372036854775807:3"),
            (Texts{"9223372036854775805", "9223372036854775806", "9223372036854775807"}));
}

TEST(Axis, ListsOfAnyField) {
  EXPECT_EQ(texts_of("training.precision=FP32, BF16"), (Texts{"FP32", "BF16"}));
  EXPECT_EQ(texts_of("cluster.device.preset=a100-40g,classroom"), (Texts{"a100-40g", "classroom"}));
  EXPECT_EQ(texts_of("model.layers=[8,8],[16, 16, 16]"), (Texts{"[8,8]", "[16, 16, 16]"}));
  EXPECT_EQ(texts_of("data.file=../a,../b"), (Texts{"../a", "../b"}));
  EXPECT_EQ(axis_of("training.precision=FP32,BF16").scale, Scale::category);
}

TEST(Axis, ListsOfNumbersAreLogWhereTheirRatiosAreNearlyEqual) {
  EXPECT_EQ(axis_of("cluster.world_size=2,4,8,16").scale, Scale::log);
  EXPECT_EQ(axis_of("cluster.world_size=16,2,8,4").scale, Scale::log);
  EXPECT_EQ(axis_of("cluster.world_size=2,4,6,8").scale, Scale::linear);
  EXPECT_EQ(axis_of("cluster.world_size=2,4").scale, Scale::linear);
  EXPECT_EQ(axis_of("cluster.link.latency=0us,1us,10us").scale, Scale::linear);
  EXPECT_EQ(axis_of("cluster.link.bandwidth=1Gbps,1GBps,100Gbps").scale, Scale::log);
}

TEST(Axis, NumbersOnItAreSaidInTheUnitOfTheValueBelow) {
  const Axis axis = axis_of("cluster.link.bandwidth=100Mbps,1Gbps,10Gbps");
  EXPECT_EQ(axis_number_text(axis, 1e9 / 8), "1Gbps");
  EXPECT_EQ(axis_number_text(axis, 2.345e9 / 8), "2.35Gbps");
  EXPECT_EQ(axis_number_text(axis, 0.2e9 / 8), "200Mbps");
  EXPECT_EQ(axis_number_text(axis_of("cluster.world_size=2,16"), 3.14159), "3.14");
}

// Whatever is drawn: texts are values of the field, ascend, begin and end as asked, and lie where
// they should to a thousandth of a step.
TEST(Axis, RandomRangesRoundTrip) {
  const std::vector<std::string> units = {"bps", "kbps", "Gbps", "GBps", "MiBps", "Tbps"};
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](double low, double high) {
      return std::uniform_real_distribution<double>(low, high)(random);
    };
    const bool is_log = random() % 2 == 0;
    const std::size_t points = 2 + random() % (seed % 10 == 0 ? 2000 : 30);
    const std::string unit = units[random() % units.size()];
    const double from = std::pow(10, draw(1, 3));
    const double to = from * (1 + std::pow(10, draw(-4, 3)));
    const std::string argument = "cluster.link.bandwidth=" + shortest_text(from) + unit + ".." +
                                 shortest_text(to) + unit + ":" + std::to_string(points) +
                                 (is_log ? ":log" : "");
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + argument);
    const Axis axis = axis_of(argument);
    ASSERT_EQ(axis.values.size(), points);
    const double size = parse_quantity(Dimension::rate, "1000" + unit).value.value() / 1000;
    for (std::size_t i = 0; i < points; ++i) {
      const AxisValue& value = axis.values[i];
      EXPECT_EQ(parse_quantity(Dimension::rate, value.text).value, value.number);
      const auto exact = [&](std::size_t k) {
        const double part = static_cast<double>(k) / static_cast<double>(points - 1);
        return is_log ? from * std::pow(to / from, part) : from + (to - from) * part;
      };
      const double step = i + 1 < points ? exact(i + 1) - exact(i) : exact(i) - exact(i - 1);
      EXPECT_NEAR(value.number / size, exact(i), 1.01e-3 * step + 1e-15 * to);
      if (i > 0) {
        EXPECT_LT(axis.values[i - 1].number, value.number);
      }
    }
  }
}

TEST(Axis, SaysWhatIsWrong) {
  EXPECT_EQ(
      faults_of({"cluster.link.bandwith=1Gbps,2Gbps"}),
      "--axis cluster.link.bandwith=1Gbps,2Gbps: cluster.link.bandwith: unknown field; did you "
      "mean \"bandwidth\"? (one of bandwidth, latency)\n");
  EXPECT_EQ(faults_of({"training.precision=FP32..BF16:2"}),
            "--axis training.precision=FP32..BF16:2: training.precision: has no range: it is "
            "neither a number nor a quantity; values, separated by commas\n");
  const auto expect = [](const std::string& axis, const std::string& words) {
    const std::string faults = faults_of({axis});
    EXPECT_NE(faults.find("--axis " + axis + ": "), std::string::npos) << faults;
    EXPECT_NE(faults.find(words), std::string::npos) << faults;
  };
  expect("cluster.world_size=16..2:3", "the range from 16 to 2 is reversed");
  expect("cluster.world_size=2..2:3", "the range from 2 to 2 is empty");
  expect("cluster.link.latency=0us..5us:3:log", "0us is no beginning of a log scale");
  expect("cluster.world_size=2..4:1", "1 is not allowed as the number of points");
  expect("cluster.world_size=2..4:two", "two is not allowed as the number of points");
  expect("cluster.world_size=2..4:1000001", "from 2 to 1000000");
  expect("cluster.world_size=2..4",
         "the number of points of the range is missing; for example cluster.world_size=2..4:5");
  expect("cluster.world_size=2..4:2:logg", "did you mean \"log\"?");
  expect("cluster.world_size=2..4:2:log:log", "log is no scale");
  expect("cluster.link.bandwidth=1Gbps..4:2", "\"4\" has no unit");
  expect("cluster.link.bandwidth=1Gbps..4Gpbs:2", "unknown unit \"Gpbs\"; did you mean \"Gbps\"?");
  expect("training.optimizer.epsilon=1..inf:2", "inf is no end of a range");
  expect("cluster.world_size=2,4,2", "2 is listed twice");
  expect("cluster.link.bandwidth=1GBps,8Gbps", "8Gbps is listed twice");
  expect("cluster.world_size=2,,4", "has an empty value");
  expect("cluster.world_size=", "has an empty value");
  expect("cluster.world_size=2,x", "x is not allowed; a whole number");
  expect("training.precision=FP32,BF61", "did you mean \"BF16\"?");
  expect("model.layers=8", "8 is not allowed; a list in brackets");
  expect("cluster.world_size=0,2", "0 is not allowed; a whole number from 1 to 16384");
  expect("cluster.world_size=1..50000:3", "50000 is not allowed");
  expect("strategies=DDP", "strategies are always crossed");
  expect("sweep=1", "a field outside the sweep");
  expect("sweep.axis.field=1", "a field outside the sweep");
  expect("cluster.link=1", "is a block of fields");
  EXPECT_NE(faults_of({"world"}).find("is neither FIELD="), std::string::npos);
  EXPECT_NE(faults_of({"training.steps=1..1000:1000", "model.seed=1..1001:1001"})
                .find("at most 1,000,000 combinations"),
            std::string::npos);
  EXPECT_NE(faults_of({"cluster.world_size=2", "cluster.world_size=4"}).find("is an axis twice"),
            std::string::npos);
  EXPECT_NE(faults_of(std::vector<std::string>{}).find("has no axes"), std::string::npos);
}

TEST(Axis, OfAFileNamesThePlace) {
  const std::string text = kScenario + R"(sweep {
  axis { field: "cluster.world_size" values: "2,two" }
  axis { values: "1" }
  axis { field: "cluster.link.latency" from: "5us" to: "1us" points: 1 scale: LOG }
  axis { field: "training.steps" values: "1" points: 3 }
  axis { field: "training.steps" from: "1" }
}
)";
  EXPECT_EQ(
      faults_of(source_of(text), {}),
      "x.textproto:14:17: training.steps: is an axis twice; each field once\n"
      "x.textproto:10:46: cluster.world_size: two is not allowed; a whole number up to "
      "9223372036854775807\n"
      "x.textproto:11:18: sweep.axis.field: missing; the path of a field, for example "
      "cluster.world_size\n"
      "x.textproto:12:70: cluster.link.latency: 1 is not allowed as the number of points; a whole "
      "number from 2 to 1000000\n"
      "x.textproto:12:56: cluster.link.latency: the range from 5us to 1us is reversed; from less "
      "than to\n"
      "x.textproto:13:54: training.steps: 3 stands beside values; values, or from, to, points and "
      "scale\n"
      "x.textproto:14:17: training.steps: to missing; values: \"A,B\", or from, to and points\n"
      "x.textproto:14:17: training.steps: points missing; values: \"A,B\", or from, to and "
      "points\n");
}

TEST(Plan, AxesOfTheCommandLineReplaceThoseOfTheFile) {
  const std::string text = kScenario + R"(sweep {
  axis { field: "cluster.world_size" values: "2,4" }
  axis { field: "training.steps" from: "1" to: "3" points: 3 }
}
)";
  Sweep sweep = plan(source_of(text), {"model.seed=1,2", "cluster.world_size=1"});
  ASSERT_EQ(sweep.axes.size(), 3U);
  EXPECT_EQ(sweep.axes[0].field.path, "cluster.world_size");
  EXPECT_EQ(sweep.axes[0].values.size(), 1U);
  EXPECT_EQ(sweep.axes[2].field.path, "model.seed");
  EXPECT_EQ(sweep.point_count(), 6U);
  EXPECT_EQ(sweep.strategies, (Texts{"DDP", "NAIVE_ZERO", "ZERO1", "ZERO2", "ZERO3"}));
  EXPECT_EQ(sweep.arithmetic, "REAL");
  // What is set is no axis any more.
  sweep = plan(source_of(text, {"cluster.world_size=4"}), {});
  EXPECT_EQ(sweep.axes.size(), 1U);
  EXPECT_NE(faults_of(source_of(text, {"model.seed=4"}), {"model.seed=1,2"})
                .find("is also given by --set model.seed=4"),
            std::string::npos);
}

TEST(Plan, PointsAreWhatSetWouldMakeThem) {
  const PointSource source = source_of(kScenario);
  const Sweep sweep = plan(source, {"cluster.link.bandwidth=1Gbps..300Gbps:5:log",
                                    "training.precision=FP32,BF16", "cluster.world_size=1,2,3"});
  ASSERT_EQ(sweep.point_count(), 30U);
  for (std::size_t point = 0; point < 30; ++point) {
    std::vector<Fault> faults;
    const std::optional<Scenario> scenario = scenario_at(source, sweep, point, faults);
    if (point % 3 == 2) {  // Three ranks do not divide the batch.
      ASSERT_EQ(faults.size(), 1U);
      EXPECT_TRUE(faults.front().of_combination);
      continue;
    }
    ASSERT_TRUE(scenario.has_value());
    const PointSource set = source_of(kScenario, assignments(sweep, point));
    EXPECT_EQ(scenario->digest,
              parse_scenario(set.file, set.overrides, set.platforms, faults)->digest);
    EXPECT_EQ(scenario->world_size, static_cast<int>(point % 3) + 1);
  }
}

TEST(Plan, RefusesWhatNoPointCanRun) {
  EXPECT_EQ(faults_of({"cluster.world_size=3,5"}),
            "x.textproto:3:35: training.global_batch: 8 is not allowed; a multiple of "
            "cluster.world_size (3): 6 or 9\n"
            "x.textproto: sweep: none of the 2 points can be run; the faults above are those of "
            "the first one\n");
  EXPECT_NE(faults_of(source_of(kScenario, {"training.stepz=1"}), {"cluster.world_size=2"})
                .find("--set training.stepz=1: training.stepz: unknown field"),
            std::string::npos);
}

TEST(Plan, ShardsTileThePoints) {
  for (std::size_t values = 1; values <= 40; ++values) {
    Sweep sweep;
    std::vector<std::string> seeds;
    for (std::size_t i = 0; i < values; ++i) {
      seeds.push_back(std::to_string(i));
    }
    sweep.axes = {make_axis({"model.seed", FieldKind::whole}, Scale::linear, seeds)};
    for (std::size_t count = 1; count <= values; ++count) {
      std::vector<std::size_t> all;
      for (std::size_t index = 1; index <= count; ++index) {
        sweep.shard = {index, count};
        const std::vector<std::size_t> own = points_of_shard(sweep);
        EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
        EXPECT_LE(own.size(), values / count + 1);
        EXPECT_GE(own.size(), values / count);
        all.insert(all.end(), own.begin(), own.end());
      }
      std::sort(all.begin(), all.end());
      ASSERT_EQ(all.size(), values);
      for (std::size_t i = 0; i < values; ++i) {
        EXPECT_EQ(all[i], i);
      }
    }
  }
}

// The table of quantities against the reader: where it takes units, and only there.
void check_quantities(const google::protobuf::Descriptor& type, const std::string& parent,
                      int& found) {
  for (int i = 0; i < type.field_count(); ++i) {
    const auto& field = *type.field(i);
    const std::string path = parent.empty() ? field.name() : parent + "." + field.name();
    if (path == "sweep") {
      continue;
    }
    if (field.message_type() != nullptr) {
      check_quantities(*field.message_type(), path, found);
    } else if (field.cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_STRING) {
      const PointSource source = source_of(kScenario, {path + "=1furlong"});
      std::vector<Fault> faults;
      parse_scenario(source.file, source.overrides, source.platforms, faults);
      const bool wants_unit = lines(faults).find("unknown unit") != std::string::npos;
      EXPECT_EQ(dimension_of(path).has_value(), wants_unit) << path;
      if (wants_unit) {
        ++found;
        EXPECT_NE(lines(faults).find(describe(*dimension_of(path))), std::string::npos) << path;
      }
    }
  }
}

TEST(QuantityFields, AreThoseTheReaderTakesUnitsIn) {
  int found = 0;
  check_quantities(*schema::Scenario::descriptor(), "", found);
  EXPECT_EQ(found, 16);
}

}  // namespace
}  // namespace shardscope::testing
