#include "sim/report/memory_table.h"

#include <gtest/gtest.h>
#include <json/json.h>

#include <iterator>
#include <sstream>

#include "core/training/formulas.h"
#include "sim/report/format.h"
#include "tests/core/support/table1.h"

namespace shardscope {
namespace {

using Faults = std::vector<std::string>;

const std::vector<Strategy> kStrategies = {*find_strategy("DDP"), *find_strategy("ZERO1"),
                                           *find_strategy("ZERO3")};

/// The states of one flat vector, without padding.
CategoryBytes plain_formula(const Strategy& strategy, std::uint64_t parameters, int world_size,
                            DType precision) {
  const auto held = [&](Placement placement) {
    return placement == Placement::sharded ? parameters / static_cast<std::uint64_t>(world_size)
                                           : parameters;
  };
  CategoryBytes bytes{};
  bytes[0] = size_of(precision) * held(strategy.parameters);
  bytes[1] = size_of(precision) * held(strategy.gradients);
  bytes[2] = precision == DType::fp32 ? 0 : 4 * held(strategy.optimizer);
  bytes[3] = bytes[4] = 4 * held(strategy.optimizer);
  return bytes;
}

TEST(MemoryTableTest, Text) {
  const MemoryRequest request = {{7'500'000'000, 350}, {1, 64}, DType::bf16};
  EXPECT_EQ(memory_table_text(request, kStrategies, plain_formula),
            "Model states per rank: parameters and gradients in bf16, master weights and\n"
            "Adam's two moments in fp32.\n"
            "Bytes for P parameters on N ranks (1 GB = 1e9 B):\n"
            "  DDP    16 P\n"
            "  ZERO1  4 P + 12 P/N\n"
            "  ZERO3  16 P/N\n"
            "\n"
            "7,500,000,000 parameters, GB\n"
            "  ranks  DDP   ZERO1  ZERO3\n"
            "      1  120     120    120\n"
            "     64  120  31.406  1.875\n"
            "\n"
            "350 parameters, GB\n"
            "  ranks        DDP       ZERO1       ZERO3\n"
            "      1  0.0000056   0.0000056   0.0000056\n"
            "     64  0.0000056  0.00000146  0.00000008\n");
}

/// The words of the line that begins with `first`, after the line `title`.
std::vector<std::string> cells_below(const std::string& text, const std::string& title,
                                     const std::string& first) {
  std::istringstream lines(text.substr(text.find("\n" + title + "\n") + 1));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> cells{std::istream_iterator<std::string>(words), {}};
    if (!cells.empty() && cells.front() == first) {
      return cells;
    }
  }
  return {};
}

TEST(MemoryTableTest, TheTextGivesTheZeroPapersTable1) {
  MemoryRequest request;
  request.parameters.assign(testing::kTable1Models.begin(), testing::kTable1Models.end());
  for (const testing::Table1Row& row : testing::kTable1) {
    request.world_sizes.push_back(row.world_size);
  }
  const std::string text = memory_table_text(request, paper_strategies(), model_state_bytes);
  int compared = 0;
  for (const testing::Table1Row& row : testing::kTable1) {
    for (std::size_t model = 0; model < row.cells.size(); ++model) {
      const std::string title = format_count(testing::kTable1Models[model]) + " parameters, GB";
      const auto cells =
          cells_below(text, title, format_count(static_cast<std::uint64_t>(row.world_size)));
      ASSERT_EQ(cells.size(), 6U) << title;
      for (std::size_t i = 0; i < row.cells[model].size(); ++i) {
        const std::string printed = row.cells[model][i];
        EXPECT_NEAR(std::stod(cells[3 + i]), std::stod(printed), testing::last_digit(printed))
            << title << ", " << row.world_size << " ranks, " << testing::kTable1Strategies[i];
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 54);
}

TEST(MemoryTableTest, FitsEightyColumns) {
  const MemoryRequest request = {
      {1, 999'999'999, 1'000'000'000'000'000}, {1, 3, 1'000'000}, DType::bf16};
  std::istringstream lines(memory_table_text(request, paper_strategies(), model_state_bytes));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST(MemoryTableTest, TextOfFp32HasNoMasterWeights) {
  const std::string text =
      memory_table_text({{1000}, {1}, DType::fp32}, kStrategies, plain_formula);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "Model states per rank: parameters and gradients in fp32, Adam's two moments in");
  EXPECT_NE(text.find("  ZERO1  8 P + 8 P/N\n"), std::string::npos);
}

TEST(MemoryTableTest, Json) {
  const MemoryRequest request = {{128'000'000'000, 1000}, {4}, DType::fp16};
  Json::Value root;
  std::istringstream(memory_table_json(request, kStrategies, plain_formula, "1.2.3")) >> root;
  EXPECT_EQ(root["shardscope"], "1.2.3");
  EXPECT_EQ(root["precision"], "fp16");
  ASSERT_EQ(root["rows"].size(), 6U);
  const Json::Value& row = root["rows"][1];
  EXPECT_EQ(row["parameters"].asUInt64(), 128'000'000'000U);
  EXPECT_EQ(row["world_size"], 4);
  EXPECT_EQ(row["strategy"], "ZERO1");
  EXPECT_EQ(row["bytes"]["parameters"].asUInt64(), 256'000'000'000U);
  EXPECT_EQ(row["bytes"]["second_moment"].asUInt64(), 128'000'000'000U);
  EXPECT_EQ(row["bytes"].size(), 5U);
  EXPECT_EQ(row["total_bytes"].asUInt64(), 896'000'000'000U);
}

MemoryRequest t5_3b() {
  MemoryRequest request = {{2'851'000'000}, {8}, DType::fp16};
  request.largest_layer = 32'899'072;
  return request;
}

TEST(MemoryTableTest, ShowsDeepSpeedsEstimatesBesideItsOwn) {
  const std::string text = memory_table_text(t5_3b(), kStrategies, plain_formula);
  EXPECT_NE(text.find("  stage 2                        2 P + 18 P/N\n"
                      "  stage 2, optimizer on the CPU  2 P\n"
                      "  stage 3                        4 E + 18 P/N\n"
                      "  stage 3, optimizer on the CPU  4 E + 2 P/N\n"
                      "\n"
                      "2,851,000,000 parameters, GiB\n"
                      "                    stage 2,             stage 3,\n"
                      "                   optimizer            optimizer  states of  states of\n"
                      "  ranks  stage 2  on the CPU  stage 3  on the CPU      ZERO2      ZERO3\n"
                      "      8    11.28        5.31     6.10        0.79       9.96       5.31\n"),
            std::string::npos)
      << text;
  const std::string left_out = text.substr(text.find("What they leave out"));
  for (const char* term : {"activations", "padding", "reduce_bucket_size", "all_gather",
                           "prefetched", "stage3_max_reuse_distance", "16-bit gradients"}) {
    EXPECT_NE(left_out.find(term), std::string::npos) << term;
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST(MemoryTableTest, JsonHasDeepSpeedsEstimates) {
  Json::Value root;
  std::istringstream(memory_table_json(t5_3b(), kStrategies, plain_formula, "1.2.3")) >> root;
  EXPECT_EQ(root["rows"].size(), 3U);
  const Json::Value& estimates = root["deepspeed_estimates"];
  EXPECT_EQ(estimates["largest_layer"].asUInt64(), 32'899'072U);
  ASSERT_EQ(estimates["rows"].size(), 4U);
  const Json::Value& offloaded = estimates["rows"][3];
  EXPECT_EQ(offloaded["parameters"].asUInt64(), 2'851'000'000U);
  EXPECT_EQ(offloaded["world_size"], 8);
  EXPECT_EQ(offloaded["stage"], 3);
  EXPECT_EQ(offloaded["optimizer_offload"], "CPU");
  EXPECT_EQ(offloaded["total_bytes"].asUInt64(), 4 * 32'899'072U + 2'851'000'000U / 4);
  ASSERT_EQ(estimates["leaves_out"].size(), 4U);
  for (const Json::Value& setup : estimates["leaves_out"]) {
    EXPECT_GE(setup["terms"].size(), 3U);
  }
  Json::Value without;
  std::istringstream(
      memory_table_json({{1000}, {4}, DType::fp32}, kStrategies, plain_formula, "1.2.3")) >>
      without;
  EXPECT_FALSE(without.isMember("deepspeed_estimates"));
}

TEST(MemoryTableTest, ParsesTheLargestLayer) {
  Faults faults;
  EXPECT_EQ(parse_largest_layer("32899072", faults), 32'899'072U);
  EXPECT_EQ(parse_largest_layer(" 131M ", faults), 131'000'000U);
  EXPECT_EQ(faults, Faults{});
  for (const std::string text : {"", "0", "-1", "1.5", "1,2", "131 M", "1e16", "nan"}) {
    Faults refused;
    EXPECT_EQ(parse_largest_layer(text, refused), std::nullopt) << text;
    EXPECT_EQ(refused, Faults{"--largest-layer: \"" + text +
                              "\"; allowed is one whole number from 1 to 1e15, such as 32899072 or "
                              "131M"});
  }
}

TEST(MemoryTableTest, RefusesALargestLayerThatDoesNotGoWithTheRest) {
  MemoryRequest request = {{1'000'000, 350, 351}, {8}, DType::fp32};
  request.largest_layer = 351;
  Faults faults;
  check_largest_layer(request, faults);
  EXPECT_EQ(faults,
            (Faults{"--largest-layer: 351; allowed is at most the model's 350 parameters",
                    "--largest-layer: DeepSpeed's estimators know half types alone; allowed "
                    "with --precision bf16 and fp16"}));
  request.largest_layer.reset();
  faults.clear();
  check_largest_layer(request, faults);
  EXPECT_EQ(faults, Faults{});
}

TEST(MemoryTableTest, ParsesParameterCounts) {
  Faults faults;
  EXPECT_EQ(parse_parameter_counts("7.5e9,128e9", faults),
            (std::vector<std::uint64_t>{7'500'000'000, 128'000'000'000}));
  EXPECT_EQ(parse_parameter_counts("1, 1.1B ,350M,12k,1T,6.805G,1e15", faults),
            (std::vector<std::uint64_t>{1, 1'100'000'000, 350'000'000, 12'000, 1'000'000'000'000,
                                        6'805'000'000, 1'000'000'000'000'000}));
  EXPECT_EQ(faults, Faults{});
}

TEST(MemoryTableTest, RefusesWrongParameterCounts) {
  for (const std::string item : {"", "0", "-7", "1.5", "7.0001k", "1e16", "1e999", "nan", "inf",
                                 "0x10", "7BB", "seven", "1e3k", "7 B", "B", "1e-400"}) {
    Faults faults;
    EXPECT_EQ(parse_parameter_counts(item, faults), std::vector<std::uint64_t>{}) << item;
    EXPECT_EQ(faults, Faults{"--parameters: \"" + item +
                             "\"; allowed are whole numbers from 1 to 1e15, such as 7504924672, "
                             "7.5e9, 350M or 7B"});
  }
  Faults faults;
  parse_parameter_counts("x,7B,", faults);
  EXPECT_EQ(faults.size(), 2U);
}

TEST(MemoryTableTest, ParsesWorldSizes) {
  Faults faults;
  EXPECT_EQ(parse_world_sizes("1,4,64", faults), (std::vector<int>{1, 4, 64}));
  EXPECT_EQ(faults, Faults{});
  parse_world_sizes("0,1.5,1000001,4k", faults);
  EXPECT_EQ(faults.size(), 4U);
  EXPECT_EQ(faults[0], "--world-size: \"0\"; allowed are whole numbers from 1 to 1000000");
}

TEST(MemoryTableTest, ParsesPrecisions) {
  Faults faults;
  EXPECT_EQ(parse_precision("BF16", faults), DType::bf16);
  EXPECT_EQ(parse_precision("fp32", faults), DType::fp32);
  EXPECT_EQ(parse_precision("int64", faults), std::nullopt);
  EXPECT_EQ(faults, Faults{"--precision: \"int64\"; allowed are fp32, bf16 and fp16"});
}

}  // namespace
}  // namespace shardscope
