// Training data from a safetensors file: x [steps, batch, in] and, for MSE, y [steps, batch, out],
// both F32, F16 or BF16; for cross entropy, y I64 [steps, batch], class labels. The batch is the
// global batch; steps beyond those trained are not read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/nn/model.h"
#include "sim/files/safetensors.h"

namespace shardscope {

class BatchesFile {
 public:
  /// Opens the file and checks it against the model, the steps and the global batch, the values
  /// too: numbers must be finite and labels in [0, out). Null, with the faults appended, if it does
  /// not fit.
  static std::unique_ptr<BatchesFile> open(const std::string& path, const ModelSpec& model,
                                           std::uint64_t steps, std::uint64_t global_batch,
                                           std::vector<std::string>& faults);

  /// Rows [first_row, first_row + rows) of step 0, 1, ...: `x` receives rows x in numbers, `y` rows
  /// x out. For a file of targets; aborts for one of labels, or if there are fewer steps or rows.
  /// Safe from several threads and in forked processes. An error, or nothing.
  std::optional<std::string> read(std::uint64_t step, std::uint64_t first_row, std::uint64_t rows,
                                  float* x, float* y) const;

  /// The same for a file of labels, one per row.
  std::optional<std::string> read(std::uint64_t step, std::uint64_t first_row, std::uint64_t rows,
                                  float* x, std::int64_t* labels) const;

 private:
  BatchesFile(std::unique_ptr<SafetensorsFile> file, const ModelSpec& model,
              std::uint64_t global_batch);

  std::optional<std::string> read_inputs(std::uint64_t first_row, std::uint64_t rows,
                                         float* x) const;
  std::uint64_t row_in_file(std::uint64_t step, std::uint64_t first_row, std::uint64_t rows) const;

  std::unique_ptr<SafetensorsFile> file_;
  const SafetensorsEntry* x_;
  const SafetensorsEntry* y_;
  Loss loss_;
  std::uint64_t input_width_;
  std::uint64_t output_width_;
  std::uint64_t global_batch_;
};

}  // namespace shardscope
