#include "tests/core/support/pytorch.h"

#include <bit>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace shardscope::testing {
namespace {

// The file's lines without comments.
std::vector<std::istringstream> read_lines(const std::string& name) {
  const std::string path = SHARDSCOPE_TEST_DATA "/" + name;
  std::ifstream file(path);
  std::vector<std::istringstream> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) {
      lines.emplace_back(line);
    }
  }
  if (lines.empty()) {
    throw std::runtime_error("cannot read " + path);
  }
  return lines;
}

template <typename T>
T next(std::istringstream& line) {
  T value{};
  if (!(line >> value)) {
    throw std::runtime_error("unexpected end of line: " + line.str());
  }
  return value;
}

std::vector<double> next_list(std::istringstream& line) {
  std::vector<double> values(next<std::size_t>(line));
  for (double& value : values) {
    value = next<double>(line);
  }
  return values;
}

}  // namespace

std::map<std::pair<std::string, int>, PytorchRun> read_pytorch_runs(std::string_view name) {
  std::map<std::pair<std::string, int>, PytorchRun> runs;
  PytorchRun* run = nullptr;
  for (std::istringstream& line : read_lines("pytorch_" + std::string(name) + ".txt")) {
    const auto key = next<std::string>(line);
    if (key == "run") {
      const auto precision = next<std::string>(line);
      run = &runs[{precision, next<int>(line)}];
    } else if (run == nullptr) {
      throw std::runtime_error("figures before the first run");
    } else if (key == "loss") {
      run->loss = next_list(line);
    } else if (key == "gradient_norm") {
      run->gradient_norm = next_list(line);
    } else if (key == "first8") {
      run->first8 = next_list(line);
    } else if (key == "every97") {
      run->every97 = next_list(line);
    } else if (key == "loss_scale") {
      run->loss_scale = next_list(line);
    } else if (key == "skipped") {
      run->skipped = next_list(line);
    } else {
      throw std::runtime_error("unknown figure " + key);
    }
  }
  return runs;
}

std::vector<float> read_pytorch_parameters() {
  std::vector<float> parameters;
  for (std::istringstream& line : read_lines("pytorch_relu_mse_fp32_parameters.txt")) {
    for (std::uint32_t bits = 0; line >> std::hex >> bits;) {
      parameters.push_back(std::bit_cast<float>(bits));
    }
  }
  return parameters;
}

std::map<std::string, ReferenceHashes> read_reference_hashes() {
  std::map<std::string, ReferenceHashes> hashes;
  for (std::istringstream& line : read_lines("reference_hashes.txt")) {
    const auto key = next<std::string>(line);
    ReferenceHashes& problem = hashes[next<std::string>(line)];
    if (key == "weights") {
      line >> std::hex;
      problem.weights = next<std::uint64_t>(line);
    } else {
      next<int>(line);  // The step; lines are in order.
      line >> std::hex;
      const auto inputs = next<std::uint64_t>(line);
      problem.batches.emplace_back(inputs, next<std::uint64_t>(line));
    }
  }
  return hashes;
}

}  // namespace shardscope::testing
