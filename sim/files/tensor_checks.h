// Checks that files of weights and of batches share. Each appends its faults to a list and says
// whether there were none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/files/safetensors.h"

namespace shardscope {

/// A tensor that a file must have.
struct ExpectedTensor {
  std::string name;
  std::vector<std::string> dtypes;   ///< Any of these.
  std::vector<std::uint64_t> shape;  ///< As it should be.
  std::string meaning;               ///< Of the shape, for faults: "[out, in]".
};

/// Whether a tensor's first extent may be larger than expected.
enum class FirstExtent { exact, at_least };

/// That the file has all of these tensors, with their types and shapes, and no others.
bool check_tensors(const SafetensorsFile& file, const std::vector<ExpectedTensor>& expected,
                   FirstExtent first_extent, std::vector<std::string>& faults);

/// That the first `count` elements of a floating-point tensor are finite.
bool check_finite(const SafetensorsFile& file, const SafetensorsEntry& entry, std::uint64_t count,
                  std::vector<std::string>& faults);

/// That the first `count` elements of an I64 tensor are in [0, limit).
bool check_labels(const SafetensorsFile& file, const SafetensorsEntry& entry, std::uint64_t count,
                  std::uint64_t limit, std::vector<std::string>& faults);

/// The types a floating-point tensor may have.
const std::vector<std::string>& floating_point_dtypes();

}  // namespace shardscope
