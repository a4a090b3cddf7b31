#include "sim/files/batches.h"

#include <utility>

#include "core/check.h"
#include "sim/files/tensor_checks.h"

namespace shardscope {
namespace {

std::vector<ExpectedTensor> expected_tensors(const ModelSpec& model, std::uint64_t steps,
                                             std::uint64_t global_batch) {
  const ExpectedTensor x = {"x",
                            floating_point_dtypes(),
                            {steps, global_batch, model.input_width()},
                            "[steps, global_batch, in]"};
  if (model.loss == Loss::cross_entropy) {
    return {x, {"y", {"I64"}, {steps, global_batch}, "[steps, global_batch] (class labels)"}};
  }
  return {x,
          {"y",
           floating_point_dtypes(),
           {steps, global_batch, model.output_width()},
           "[steps, global_batch, out]"}};
}

bool check_values(const SafetensorsFile& file, const ModelSpec& model, std::uint64_t rows,
                  std::vector<std::string>& faults) {
  const bool inputs = check_finite(file, *file.find("x"), rows * model.input_width(), faults);
  const SafetensorsEntry& y = *file.find("y");
  const bool targets = model.loss == Loss::cross_entropy
                           ? check_labels(file, y, rows, model.output_width(), faults)
                           : check_finite(file, y, rows * model.output_width(), faults);
  return inputs && targets;
}

}  // namespace

std::unique_ptr<BatchesFile> BatchesFile::open(const std::string& path, const ModelSpec& model,
                                               std::uint64_t steps, std::uint64_t global_batch,
                                               std::vector<std::string>& faults) {
  std::unique_ptr<SafetensorsFile> file = SafetensorsFile::open(path, faults);
  if (!file ||
      !check_tensors(*file, expected_tensors(model, steps, global_batch), FirstExtent::at_least,
                     faults) ||
      !check_values(*file, model, steps * global_batch, faults)) {
    return nullptr;
  }
  return std::unique_ptr<BatchesFile>(new BatchesFile(std::move(file), model, global_batch));
}

BatchesFile::BatchesFile(std::unique_ptr<SafetensorsFile> file, const ModelSpec& model,
                         std::uint64_t global_batch)
    : file_(std::move(file)),
      x_(file_->find("x")),
      y_(file_->find("y")),
      loss_(model.loss),
      input_width_(model.input_width()),
      output_width_(model.output_width()),
      global_batch_(global_batch) {}

std::optional<std::string> BatchesFile::read(std::uint64_t step, std::uint64_t first_row,
                                             std::uint64_t rows, float* x, float* y) const {
  SHARDSCOPE_CHECK(loss_ == Loss::mse, "targets of a file of labels");
  const std::uint64_t row = row_in_file(step, first_row, rows);
  if (auto error = read_inputs(row, rows, x)) {
    return error;
  }
  return file_->read_fp32(*y_, row * output_width_, rows * output_width_, y);
}

std::optional<std::string> BatchesFile::read(std::uint64_t step, std::uint64_t first_row,
                                             std::uint64_t rows, float* x,
                                             std::int64_t* labels) const {
  SHARDSCOPE_CHECK(loss_ == Loss::cross_entropy, "labels of a file of targets");
  const std::uint64_t row = row_in_file(step, first_row, rows);
  if (auto error = read_inputs(row, rows, x)) {
    return error;
  }
  return file_->read(*y_, row, rows, labels);
}

std::optional<std::string> BatchesFile::read_inputs(std::uint64_t first_row, std::uint64_t rows,
                                                    float* x) const {
  return file_->read_fp32(*x_, first_row * input_width_, rows * input_width_, x);
}

std::uint64_t BatchesFile::row_in_file(std::uint64_t step, std::uint64_t first_row,
                                       std::uint64_t rows) const {
  SHARDSCOPE_CHECK(first_row <= global_batch_ && rows <= global_batch_ - first_row,
                   "rows beyond the global batch");
  return step * global_batch_ + first_row;
}

}  // namespace shardscope
