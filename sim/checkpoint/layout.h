// How a model's state is cut into the tensors of rank files, and how files and folders are named.
//
//   DIRECTORY/ZERO1/step-0000020/manifest.json
//                               /rank-0.safetensors    layers.0.weight[0:49296], ...
//                               /rank-1.safetensors    layers.0.weight[49296:65536], ...
//                                                      first_moment.layers.0.weight[49296:65536],
//                                                      ...
//
// Elements are counted in torch order (W0, b0, W1, b1, ...): over the whole model in ElementRange,
// inside one tensor, flattened, in TensorRange. All ranges are [begin, end).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/nn/model.h"
#include "core/training/training_state.h"

namespace shardscope {

struct ElementRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// By rank, what it owns of the model.
using Ownership = std::vector<std::vector<ElementRange>>;

/// A weight or bias of the model.
struct ModelTensor {
  std::string name;  ///< "layers.0.weight"
  std::vector<std::uint64_t> shape;
  std::size_t begin = 0;  ///< In the model.
  std::size_t count = 0;
};

/// A piece of tensor `tensor` of model_tensors().
struct TensorRange {
  std::size_t tensor = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::vector<ModelTensor> model_tensors(const ModelSpec& model);

/// The ranges in ascending order, those that touch joined, empty ones left out.
std::vector<ElementRange> joined_ranges(std::vector<ElementRange> ranges);

/// The pieces of tensors that the joined ranges cover, in torch order. The ranges must lie in the
/// model.
std::vector<TensorRange> tensor_ranges(const std::vector<ModelTensor>& tensors,
                                       const std::vector<ElementRange>& ranges);

/// "layers.0.weight[0:49296]", as the piece's weights are named in a rank file.
std::string range_name(const ModelTensor& tensor, const TensorRange& range);

/// The three vectors in the order of a rank file, and what their tensors' names begin with: "",
/// "first_moment.", "second_moment.".
inline constexpr std::array<StateVector, 3> kStateVectors = {
    StateVector::weights, StateVector::first_moment, StateVector::second_moment};
std::string_view state_prefix(StateVector which);

inline constexpr std::string_view kManifestName = "manifest.json";

/// "rank-03.safetensors": as many digits as the largest rank has.
std::string rank_file_name(std::size_t rank, std::size_t world_size);

/// "step-0000020".
std::string step_folder_name(std::int64_t steps);

/// The steps of a name that step_folder_name() gives, or nothing.
std::optional<std::int64_t> parse_step_folder_name(std::string_view name);

}  // namespace shardscope
