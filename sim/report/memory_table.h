// The table of formulas: bytes of model states per rank, without running anything.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/dtype.h"
#include "core/tensor/ledger.h"
#include "core/training/strategy.h"

namespace shardscope {

/// Bytes that one rank holds, per category.
using StateBytesFormula = std::function<CategoryBytes(const Strategy&, std::uint64_t parameters,
                                                      int world_size, DType precision)>;

/// What `shardscope memory` was asked for.
struct MemoryRequest {
  std::vector<std::uint64_t> parameters;
  std::vector<int> world_sizes;
  DType precision = DType::bf16;

  /// E, for DeepSpeed's estimators beside the table (deepspeed_table.h).
  std::optional<std::uint64_t> largest_layer = {};
};

/// "7.5e9,128e9", "7B, 350M" (k, M, B or G, T): whole numbers from 1 to 1e15. Faults, one for each
/// wrong item, are appended.
std::vector<std::uint64_t> parse_parameter_counts(std::string_view text,
                                                  std::vector<std::string>& faults);

/// "1,4,64": whole numbers from 1 to 1,000,000.
std::vector<int> parse_world_sizes(std::string_view text, std::vector<std::string>& faults);

/// "fp32", "bf16", "fp16", in any case.
std::optional<DType> parse_precision(std::string_view text, std::vector<std::string>& faults);

/// "32899072", "131M": as a parameter count.
std::optional<std::uint64_t> parse_largest_layer(std::string_view text,
                                                 std::vector<std::string>& faults);

/// Appends why the largest layer does not go with the rest: more than a model's parameters, or
/// fp32, for which DeepSpeed has no estimate.
void check_largest_layer(const MemoryRequest& request, std::vector<std::string>& faults);

/// The table for reading, 80 columns, ends with a newline. In GB (1e9 B) with five digits, whatever
/// the size. Estimates of DeepSpeed follow if there is a largest layer.
std::string memory_table_text(const MemoryRequest& request, const std::vector<Strategy>& strategies,
                              const StateBytesFormula& formula);

/// The same as JSON: {"shardscope", "precision", "rows": [{"parameters", "world_size", "strategy",
/// "bytes": {CATEGORY: n}, "total_bytes"}]}, with a largest layer also "deepspeed_estimates"
/// (deepspeed_table.h); ends with a newline.
std::string memory_table_json(const MemoryRequest& request, const std::vector<Strategy>& strategies,
                              const StateBytesFormula& formula, std::string_view version);

}  // namespace shardscope
