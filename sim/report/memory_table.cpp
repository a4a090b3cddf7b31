#include "sim/report/memory_table.h"

#include <json/json.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/report/deepspeed_table.h"
#include "sim/report/format.h"
#include "sim/report/table.h"
#include "sim/text/comma_list.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

constexpr double kMostParameters = 1e15;
constexpr double kLargestWorld = 1e6;

std::uint64_t total(const CategoryBytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

/// "7.5B" as "7.5e9", so that one correctly rounded conversion reads it.
std::string with_exponent(std::string_view item) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kSuffixes = {
      {{"kK", "e3"}, {"mM", "e6"}, {"bBgG", "e9"}, {"tT", "e12"}}};
  for (const auto& [letters, exponent] : kSuffixes) {
    if (!item.empty() && letters.find(item.back()) != std::string_view::npos) {
      return std::string(item.substr(0, item.size() - 1)) + std::string(exponent);
    }
  }
  return std::string(item);
}

/// A whole number from 1 to `largest`, or nothing. All whole numbers of that size are doubles.
std::optional<std::uint64_t> whole_number(const std::string& text, double largest) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool read = error == std::errc() && end == text.data() + text.size();
  if (!read || !(value >= 1 && value <= largest) || std::floor(value) != value) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(value);
}

std::string first_line(const MemoryRequest& request) {
  const std::string type(name(request.precision));
  return "Model states per rank: parameters and gradients in " + type +
         (request.precision == DType::fp32 ? ", Adam's two moments in fp32."
                                           : ", master weights and Adam's two moments in fp32.");
}

/// "4 P + 12 P/N", found from the formula itself: what does not shrink with N and what does.
std::string formula_text(const Strategy& strategy, DType precision,
                         const StateBytesFormula& formula) {
  constexpr std::uint64_t kParameters = 1 << 20;
  const std::uint64_t alone = total(formula(strategy, kParameters, 1, precision));
  const std::uint64_t of_two = total(formula(strategy, kParameters, 2, precision));
  const std::uint64_t sharded = 2 * (alone - of_two) / kParameters;
  const std::uint64_t whole = alone / kParameters - sharded;
  std::string text = whole == 0 ? "" : std::to_string(whole) + " P";
  if (sharded > 0) {
    text += (text.empty() ? "" : " + ") + std::to_string(sharded) + " P/N";
  }
  return text;
}

/// Always the same unit, so that all figures of a table, and of several, can be compared. Five
/// digits, down to one byte.
std::string gigabytes(std::uint64_t bytes) {
  return trimmed_significant(static_cast<double>(bytes) / 1e9, 5, 9);
}

/// One table: a row per world size, a column per strategy.
std::string table_for(std::uint64_t parameters, const MemoryRequest& request,
                      const std::vector<Strategy>& strategies, const StateBytesFormula& formula) {
  Table table;
  table.add_column("ranks", Align::right);
  for (const Strategy& strategy : strategies) {
    table.add_column(std::string(strategy.name), Align::right);
  }
  for (const int world_size : request.world_sizes) {
    std::vector<std::string> row = {format_count(static_cast<std::uint64_t>(world_size))};
    for (const Strategy& strategy : strategies) {
      row.push_back(gigabytes(total(formula(strategy, parameters, world_size, request.precision))));
    }
    table.add_row(std::move(row));
  }
  return wrapped(format_count(parameters) + " parameters, GB", kReportWidth) + table.text();
}

Json::Value json_row(const Strategy& strategy, std::uint64_t parameters, int world_size,
                     const CategoryBytes& bytes) {
  Json::Value row;
  row["parameters"] = Json::UInt64{parameters};
  row["world_size"] = world_size;
  row["strategy"] = std::string(strategy.name);
  for (std::size_t i = 0; i < kStateCategoryCount; ++i) {
    row["bytes"][std::string(kCategoryNames[i])] = Json::UInt64{bytes[i]};
  }
  row["total_bytes"] = Json::UInt64{total(bytes)};
  return row;
}

template <typename Value>
void refuse_twice(const char* option, const std::vector<Value>& values,
                  std::vector<std::string>& faults) {
  if (const auto twice = find_twice(values)) {
    faults.push_back(std::string(option) + ": " + std::to_string(*twice) +
                     " is there twice; each number once");
  }
}

}  // namespace

std::vector<std::uint64_t> parse_parameter_counts(std::string_view text,
                                                  std::vector<std::string>& faults) {
  std::vector<std::uint64_t> counts;
  for (const std::string& item : comma_list(text)) {
    if (const auto count = whole_number(with_exponent(item), kMostParameters)) {
      counts.push_back(*count);
    } else {
      faults.push_back("--parameters: " + quoted(item) +
                       "; allowed are whole numbers from 1 to 1e15, such as 7504924672, 7.5e9, "
                       "350M or 7B");
    }
  }
  refuse_twice("--parameters", counts, faults);
  return counts;
}

std::vector<int> parse_world_sizes(std::string_view text, std::vector<std::string>& faults) {
  std::vector<int> sizes;
  for (const std::string& item : comma_list(text)) {
    if (const auto size = whole_number(item, kLargestWorld)) {
      sizes.push_back(static_cast<int>(*size));
    } else {
      faults.push_back("--world-size: " + quoted(item) +
                       "; allowed are whole numbers from 1 to 1000000");
    }
  }
  refuse_twice("--world-size", sizes, faults);
  return sizes;
}

std::optional<DType> parse_precision(std::string_view text, std::vector<std::string>& faults) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp16}) {
    if (lower == name(dtype)) {
      return dtype;
    }
  }
  faults.push_back("--precision: " + quoted(text) + "; allowed are fp32, bf16 and fp16");
  return std::nullopt;
}

std::optional<std::uint64_t> parse_largest_layer(std::string_view text,
                                                 std::vector<std::string>& faults) {
  const auto count = whole_number(with_exponent(trimmed(text)), kMostParameters);
  if (!count.has_value()) {
    faults.push_back("--largest-layer: " + quoted(text) +
                     "; allowed is one whole number from 1 to 1e15, such as 32899072 or 131M");
  }
  return count;
}

void check_largest_layer(const MemoryRequest& request, std::vector<std::string>& faults) {
  if (!request.largest_layer.has_value()) {
    return;
  }
  for (const std::uint64_t parameters : request.parameters) {
    if (*request.largest_layer > parameters) {
      faults.push_back("--largest-layer: " + format_count(*request.largest_layer) +
                       "; allowed is at most the model's " + format_count(parameters) +
                       " parameters");
    }
  }
  if (request.precision == DType::fp32) {
    faults.emplace_back(
        "--largest-layer: DeepSpeed's estimators know half types alone; allowed with --precision "
        "bf16 and fp16");
  }
}

std::string memory_table_text(const MemoryRequest& request, const std::vector<Strategy>& strategies,
                              const StateBytesFormula& formula) {
  std::string text = wrapped(first_line(request), kReportWidth) +
                     "Bytes for P parameters on N ranks (1 GB = 1e9 B):\n";
  Table formulas;
  formulas.add_column("", Align::left);
  formulas.add_column("", Align::left);
  for (const Strategy& strategy : strategies) {
    formulas.add_row(
        {std::string(strategy.name), formula_text(strategy, request.precision, formula)});
  }
  text += formulas.text();
  for (const std::uint64_t parameters : request.parameters) {
    text += "\n" + table_for(parameters, request, strategies, formula);
  }
  if (request.largest_layer.has_value()) {
    text += "\n" + deepspeed_estimates_text(request, formula);
  }
  return text;
}

std::string memory_table_json(const MemoryRequest& request, const std::vector<Strategy>& strategies,
                              const StateBytesFormula& formula, std::string_view version) {
  Json::Value root;
  root["shardscope"] = std::string(version);
  root["precision"] = std::string(name(request.precision));
  root["rows"] = Json::Value(Json::arrayValue);
  for (const std::uint64_t parameters : request.parameters) {
    for (const int world_size : request.world_sizes) {
      for (const Strategy& strategy : strategies) {
        root["rows"].append(json_row(strategy, parameters, world_size,
                                     formula(strategy, parameters, world_size, request.precision)));
      }
    }
  }
  if (request.largest_layer.has_value()) {
    root["deepspeed_estimates"] = deepspeed_estimates_json(request);
  }
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "  ";
  return Json::writeString(builder, root) + "\n";
}

}  // namespace shardscope
