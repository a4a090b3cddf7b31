#include "sim/checkpoint/reshard.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "sim/files/new_folder.h"
#include "sim/files/safetensors.h"

namespace shardscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kElementsAtOnce = std::size_t{1} << 18;

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

/// The folder that a new folder is made in; "DIR/" is DIR.
std::string folder_of(const std::string& path) {
  const fs::path folder = path;
  const fs::path parent = (folder.has_filename() ? folder : folder.parent_path()).parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace

std::optional<SavedCheckpoint> reshard(const CheckpointSource& source, const ReshardTarget& target,
                                       const std::string& program, const std::string& out,
                                       std::string& error) {
  CheckpointRun run = source.manifest().run;
  run.program = program;
  run.strategy = target.strategy;
  run.world_size = static_cast<int>(target.ownership.size());
  NewFolder parent(folder_of(out));
  if (parent.error()) {
    error = *parent.error();
    return std::nullopt;
  }
  try {
    auto saved =
        write_checkpoint(out, ExistingFolder::refused, run, source, target.ownership, error);
    if (saved.has_value()) {
      parent.keep();
    }
    return saved;
  } catch (const std::runtime_error& failure) {  // A file that cannot be read any more.
    error = failure.what();
    return std::nullopt;
  }
}

std::optional<std::string> consolidate(const CheckpointSource& source, const std::string& out) {
  if (exists(out)) {
    return out + ": cannot be written: it exists already";
  }
  std::vector<SafetensorsTensor> tensors;
  for (const ModelTensor& tensor : model_tensors(source.manifest().run.model)) {
    tensors.push_back({tensor.name, DType::fp32, tensor.shape});
  }
  SafetensorsWriter writer(out, tensors, {{"format", "pt"}});
  const std::size_t parameters = source.manifest().run.model.parameters();
  std::vector<float> values(std::min(parameters, kElementsAtOnce));
  try {
    for (std::size_t begin = 0; begin < parameters; begin += values.size()) {
      const std::size_t count = std::min(values.size(), parameters - begin);
      source.read(StateVector::weights, begin, Tensor::of(values.data(), count));
      writer.write(values.data(), count * sizeof(float));
    }
  } catch (const std::runtime_error& failure) {  // A file that cannot be read any more.
    return failure.what();
  }
  return writer.finish();
}

}  // namespace shardscope
