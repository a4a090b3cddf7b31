#include "sim/run/sources.h"

#include <optional>
#include <stdexcept>
#include <utility>

#include "core/data/synthetic.h"
#include "sim/files/batches.h"
#include "sim/files/weights.h"

namespace shardscope {
namespace {

void throw_if(const std::optional<std::string>& error) {
  if (error.has_value()) {
    throw std::runtime_error(*error);
  }
}

class FileWeights final : public WeightSource {
 public:
  explicit FileWeights(std::unique_ptr<WeightsFile> file) : file_(std::move(file)) {}

  void read(std::size_t layer, LayerTensor which, std::size_t first, Tensor out) const override {
    throw_if(file_->read(layer, which, first, out.count, out.fp32()));
  }

 private:
  std::unique_ptr<WeightsFile> file_;
};

class FileBatches final : public BatchSource {
 public:
  explicit FileBatches(std::unique_ptr<BatchesFile> file) : file_(std::move(file)) {}

  void read(std::size_t step, std::size_t first_row, std::size_t rows, Tensor x,
            Tensor y) const override {
    throw_if(y.dtype == DType::int64 ? file_->read(step, first_row, rows, x.fp32(), y.int64())
                                     : file_->read(step, first_row, rows, x.fp32(), y.fp32()));
  }

 private:
  std::unique_ptr<BatchesFile> file_;
};

}  // namespace

Sources open_sources(const Scenario& scenario, std::vector<std::string>& faults) {
  const std::size_t faults_before = faults.size();
  Sources sources;
  if (scenario.weights_file.has_value()) {
    auto file = WeightsFile::open(*scenario.weights_file, scenario.model, faults);
    sources.weights = std::make_unique<FileWeights>(std::move(file));
  } else {
    sources.weights = std::make_unique<SyntheticWeights>(scenario.model, scenario.seed);
  }
  if (scenario.data_file.has_value()) {
    auto file = BatchesFile::open(*scenario.data_file, scenario.model, scenario.training.steps,
                                  scenario.training.global_batch, faults);
    sources.batches = std::make_unique<FileBatches>(std::move(file));
  } else if (scenario.training.storage == Storage::real) {
    sources.batches = std::make_unique<SyntheticBatches>(scenario.model, scenario.seed,
                                                         scenario.training.global_batch);
  }
  return faults.size() == faults_before ? std::move(sources) : Sources{};
}

}  // namespace shardscope
