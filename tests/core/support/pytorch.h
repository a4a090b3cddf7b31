// PyTorch's figures on the reference problems, read from tests/data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardscope::testing {

struct PytorchRun {
  std::vector<double> loss;           // Of each step.
  std::vector<double> gradient_norm;  // Of each step.
  std::vector<double> first8;         // Parameters after the last step: 0 .. 7,
  std::vector<double> every97;        // and 0, 97, 194, ...
  std::vector<double> loss_scale;     // Of each step; only where it is dynamic.
  std::vector<double> skipped;        // 1 where gradients overflowed, else 0; the same.
};

/// Runs by precision ("fp32") and world size, of pytorch_NAME.txt. Throws std::runtime_error on a
/// file it cannot read.
std::map<std::pair<std::string, int>, PytorchRun> read_pytorch_runs(std::string_view name);

/// Every parameter of relu_mse in fp32 on one rank after the last step.
std::vector<float> read_pytorch_parameters();

/// FNV-1a hashes by problem: of the weights, and of each step's inputs and targets.
struct ReferenceHashes {
  std::uint64_t weights = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> batches;
};
std::map<std::string, ReferenceHashes> read_reference_hashes();

}  // namespace shardscope::testing
