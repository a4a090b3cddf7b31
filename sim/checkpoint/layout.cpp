#include "sim/checkpoint/layout.h"

#include <algorithm>
#include <charconv>

#include "core/check.h"
#include "sim/files/weights.h"

namespace shardscope {
namespace {

constexpr std::string_view kStepPrefix = "step-";
constexpr std::size_t kStepDigits = 7;

std::string padded(std::uint64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

}  // namespace

std::vector<ModelTensor> model_tensors(const ModelSpec& model) {
  std::vector<ModelTensor> tensors;
  std::size_t begin = 0;
  const auto add = [&](std::string name, std::vector<std::uint64_t> shape, std::size_t count) {
    tensors.push_back({std::move(name), std::move(shape), begin, count});
    begin += count;
  };
  for (std::size_t i = 0; i < model.layer_count(); ++i) {
    const LinearShape shape = model.layer(i);
    add(tensor_name(i, LayerTensor::weight), {shape.out, shape.in}, shape.weight_elements());
    add(tensor_name(i, LayerTensor::bias), {shape.out}, shape.out);
  }
  return tensors;
}

std::vector<ElementRange> joined_ranges(std::vector<ElementRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const ElementRange& a, const ElementRange& b) { return a.begin < b.begin; });
  std::vector<ElementRange> joined;
  for (const ElementRange& range : ranges) {
    if (range.begin == range.end) {
      continue;
    }
    if (!joined.empty() && joined.back().end == range.begin) {
      joined.back().end = range.end;
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

std::vector<TensorRange> tensor_ranges(const std::vector<ModelTensor>& tensors,
                                       const std::vector<ElementRange>& ranges) {
  std::vector<TensorRange> pieces;
  std::size_t tensor = 0;
  for (const ElementRange& range : joined_ranges(ranges)) {
    for (std::size_t begin = range.begin; begin < range.end;) {
      while (tensor < tensors.size() && begin >= tensors[tensor].begin + tensors[tensor].count) {
        ++tensor;
      }
      SHARDSCOPE_CHECK(tensor < tensors.size(), "a range leaves the model");
      const ModelTensor& in = tensors[tensor];
      const std::size_t end = std::min(range.end, in.begin + in.count);
      pieces.push_back({tensor, begin - in.begin, end - in.begin});
      begin = end;
    }
  }
  return pieces;
}

std::string range_name(const ModelTensor& tensor, const TensorRange& range) {
  return tensor.name + "[" + std::to_string(range.begin) + ":" + std::to_string(range.end) + "]";
}

std::string_view state_prefix(StateVector which) {
  switch (which) {
    case StateVector::weights:
      return "";
    case StateVector::first_moment:
      return "first_moment.";
    case StateVector::second_moment:
      return "second_moment.";
  }
  return "";
}

std::string rank_file_name(std::size_t rank, std::size_t world_size) {
  return "rank-" + padded(rank, std::to_string(world_size - 1).size()) + ".safetensors";
}

std::string step_folder_name(std::int64_t steps) {
  return std::string(kStepPrefix) + padded(static_cast<std::uint64_t>(steps), kStepDigits);
}

std::optional<std::int64_t> parse_step_folder_name(std::string_view name) {
  if (name.substr(0, kStepPrefix.size()) != kStepPrefix) {
    return std::nullopt;
  }
  std::int64_t steps = 0;
  const auto [end, error] =
      std::from_chars(name.data() + kStepPrefix.size(), name.data() + name.size(), steps);
  const bool is_one = error == std::errc() && steps >= 0 && step_folder_name(steps) == name;
  return is_one ? std::optional(steps) : std::nullopt;
}

}  // namespace shardscope
