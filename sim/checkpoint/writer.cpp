#include "sim/checkpoint/writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "core/check.h"
#include "sim/checkpoint/rank_file.h"
#include "sim/files/new_folder.h"
#include "sim/files/safetensors.h"

namespace shardscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kElementsAtOnce = std::size_t{1} << 18;

std::string error_text(int error) { return std::generic_category().message(error); }

/// The state that the ranks of this process hold, as one source.
class OwnedSource : public StateSource {
 public:
  OwnedSource(const TrainingProgress& progress, const std::vector<std::vector<OwnedState>>& owned)
      : progress_(progress) {
    for (const auto& of_rank : owned) {
      for (const OwnedState& state : of_rank) {
        const std::size_t count = state.weights.count;
        SHARDSCOPE_CHECK(state.first_moment.count == count && state.second_moment.count == count,
                         "weights and moments of unequal counts");
        if (count > 0) {
          states_.push_back(&state);
        }
      }
    }
    std::sort(states_.begin(), states_.end(),
              [](const OwnedState* a, const OwnedState* b) { return a->begin < b->begin; });
  }

  TrainingProgress progress() const override { return progress_; }

  void read(StateVector which, std::size_t begin, Tensor out) const override {
    auto state = std::upper_bound(
        states_.begin(), states_.end(), begin,
        [](std::size_t element, const OwnedState* owned) { return element < owned->begin; });
    --state;
    for (std::size_t done = 0; done < out.count; ++state) {
      const std::size_t first = begin + done - (*state)->begin;
      const std::size_t count = std::min(out.count - done, (*state)->weights.count - first);
      const Tensor from = vector_of(**state, which).slice(first, count);
      SHARDSCOPE_CHECK(from.is_real() && from.dtype == DType::fp32,
                       "a state to save that is no real fp32 tensor");
      std::memcpy(out.slice(done, count).data, from.data, from.bytes());
      done += count;
    }
  }

 private:
  static const Tensor& vector_of(const OwnedState& state, StateVector which) {
    switch (which) {
      case StateVector::weights:
        return state.weights;
      case StateVector::first_moment:
        return state.first_moment;
      case StateVector::second_moment:
        return state.second_moment;
    }
    return state.weights;
  }

  TrainingProgress progress_;
  std::vector<const OwnedState*> states_;
};

Ownership ownership_of(const std::vector<std::vector<OwnedState>>& owned) {
  Ownership ownership(owned.size());
  for (std::size_t rank = 0; rank < owned.size(); ++rank) {
    for (const OwnedState& state : owned[rank]) {
      ownership[rank].push_back({state.begin, state.begin + state.weights.count});
    }
  }
  return ownership;
}

void check_ownership(const CheckpointRun& run, const Ownership& ownership) {
  SHARDSCOPE_CHECK(ownership.size() == static_cast<std::size_t>(run.world_size),
                   "a list of owned ranges per rank");
  std::vector<ElementRange> all;
  for (const auto& of_rank : ownership) {
    all.insert(all.end(), of_rank.begin(), of_rank.end());
  }
  const std::vector<ElementRange> joined = joined_ranges(std::move(all));
  SHARDSCOPE_CHECK(joined.size() == 1 && joined.front().begin == 0 &&
                       joined.front().end == run.model.parameters(),
                   "every element is owned exactly once");
}

/// Writes one rank's file and fills in its bytes and checksum. The error, or nothing.
std::optional<std::string> write_rank_file(const std::string& path,
                                           const std::vector<ModelTensor>& tensors,
                                           const StateSource& source, CheckpointFile& file) {
  std::vector<SafetensorsTensor> named;
  for (const RankTensor& tensor : rank_tensors(tensors, file.ranges)) {
    named.push_back({tensor.name, DType::fp32, {tensor.count}});
  }
  SafetensorsWriter writer(path, named);
  std::vector<float> values(kElementsAtOnce);
  for (const StateVector which : kStateVectors) {
    for (const TensorRange& range : file.ranges) {
      const std::size_t origin = tensors[range.tensor].begin;
      for (std::size_t begin = range.begin; begin < range.end; begin += kElementsAtOnce) {
        const std::size_t count = std::min(kElementsAtOnce, range.end - begin);
        source.read(which, origin + begin, Tensor::of(values.data(), count));
        writer.write(values.data(), count * sizeof(float));
      }
    }
  }
  file.bytes = writer.bytes();
  file.checksum = checksum_text(writer.digest().hex());
  return writer.finish();
}

/// An error in the hidden folder, told of the final one.
std::string in_final_folder(std::string error, const std::string& hidden,
                            const std::string& folder) {
  if (error.rfind(hidden, 0) == 0) {
    error.replace(0, hidden.size(), folder);
  }
  return error;
}

/// Why the manifest could not be read again, or nothing: it may be too long, or the progress one
/// that no training has.
std::optional<std::string> why_not_readable(const std::string& text, const std::string& path) {
  if (text.size() > kLongestManifest) {
    return path + ": cannot be written: it would have " + std::to_string(text.size()) +
           " bytes; at most " + std::to_string(kLongestManifest);
  }
  std::vector<Fault> faults;
  parse_manifest(text, path, faults);
  return faults.empty() ? std::nullopt : std::optional(format_fault(faults.front()));
}

/// Writes all files to the folder. The error, or nothing.
std::optional<std::string> write_files(const std::string& folder, CheckpointManifest& manifest,
                                       const StateSource& source, const Ownership& ownership) {
  const std::vector<ModelTensor> tensors = model_tensors(manifest.run.model);
  for (std::size_t rank = 0; rank < ownership.size(); ++rank) {
    CheckpointFile& file = manifest.files.emplace_back();
    file.ranges = tensor_ranges(tensors, ownership[rank]);
    if (file.ranges.empty()) {
      continue;
    }
    file.name = rank_file_name(rank, ownership.size());
    if (auto error =
            write_rank_file((fs::path(folder) / file.name).string(), tensors, source, file)) {
      return error;
    }
  }
  const std::string path = (fs::path(folder) / kManifestName).string();
  const std::string text = manifest_text(manifest);
  if (auto reason = why_not_readable(text, path)) {
    return reason;
  }
  return write_file(path, text);
}

/// Removes what dead writers left. What cannot be removed stays until the next save.
void remove_hidden(const std::string& folder) {
  std::vector<fs::path> hidden;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (is_hidden_folder_name(entry.path().filename().string())) {
      hidden.push_back(entry.path());
    }
  }
  for (const fs::path& path : hidden) {
    fs::remove_all(path, ignored);
  }
}

/// Whether it is a folder that a writer made: a user's own of such a name is not ours to remove.
bool is_checkpoint(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(folder, ignored)) &&
         fs::is_regular_file(fs::symlink_status(folder / kManifestName, ignored));
}

/// Removes all checkpoints up to `steps` but the newest `keep`.
void remove_old(const std::string& folder, std::int64_t steps, std::size_t keep) {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto number = parse_step_folder_name(entry.path().filename().string());
    if (number.has_value() && *number <= steps && is_checkpoint(entry.path())) {
      found.emplace_back(*number, entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  for (std::size_t i = 0; i + keep < found.size(); ++i) {
    remove_folder(found[i].second.string());
  }
}

/// Brings the names of a new folder, and of the one it is in, to disk, as far as they may be read.
void flush_parents(const fs::path& folder) {
  const fs::path parent = fs::absolute(folder).parent_path();
  flush_folder(parent.string());
  flush_folder(parent.parent_path().string());
}

}  // namespace

/// Keeps a strategy's folder to one writer: what is hidden there is then left by one that died.
class CheckpointWriter::FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0) {
      error_ = folder + ": cannot be written to: " + error_text(errno);
    } else if (!lock()) {
      error_ = folder + ": cannot be written to: another run is saving there";
    }
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }

  const std::optional<std::string>& error() const { return error_; }

 private:
  /// Another process may just be ending: it gets two seconds.
  bool lock() const {
    for (int attempt = 0; attempt < 40; ++attempt) {
      if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

  int descriptor_;
  std::optional<std::string> error_;
};

CheckpointWriter::CheckpointWriter(std::string directory, std::size_t keep, CheckpointRun run)
    : folder_((fs::path(std::move(directory)) / run.strategy).string()),
      keep_(keep),
      run_(std::move(run)) {
  SHARDSCOPE_CHECK(keep_ >= 1, "at least one checkpoint is kept");
  SHARDSCOPE_CHECK(is_strategy_name(run_.strategy), "a strategy's name that names a folder");
}

CheckpointWriter::~CheckpointWriter() = default;

std::optional<SavedCheckpoint> CheckpointWriter::write(
    const TrainingProgress& progress, const std::vector<std::vector<OwnedState>>& owned,
    std::string& error) {
  NewFolder made(folder_);
  if (made.error()) {
    error = *made.error();
    return std::nullopt;
  }
  if (lock_ == nullptr) {
    auto lock = std::make_unique<FolderLock>(folder_);
    if (lock->error()) {
      error = *lock->error();
      return std::nullopt;
    }
    lock_ = std::move(lock);
  }
  flush_parents(folder_);
  remove_hidden(folder_);
  const std::string path = (fs::path(folder_) / step_folder_name(progress.steps)).string();
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(path, ignored)) && !is_checkpoint(path)) {
    error = path + ": cannot be written: it exists and is no checkpoint";
    return std::nullopt;
  }
  auto saved = write_checkpoint(path, ExistingFolder::replaced, run_, OwnedSource(progress, owned),
                                ownership_of(owned), error);
  if (saved.has_value()) {
    made.keep();
    remove_old(folder_, progress.steps, keep_);
  }
  return saved;
}

std::optional<SavedCheckpoint> write_checkpoint(const std::string& folder, ExistingFolder existing,
                                                const CheckpointRun& run, const StateSource& source,
                                                const Ownership& ownership, std::string& error) {
  check_ownership(run, ownership);
  AtomicFolder out(folder, existing);
  if (out.error()) {
    error = *out.error();
    return std::nullopt;
  }
  CheckpointManifest manifest{.run = run, .progress = source.progress(), .files = {}};
  if (auto failed = write_files(out.hidden_path(), manifest, source, ownership)) {
    error = in_final_folder(*std::move(failed), out.hidden_path(), folder);
    return std::nullopt;
  }
  if (out.commit()) {
    error = *out.error();
    return std::nullopt;
  }
  SavedCheckpoint saved{.folder = folder, .bytes_by_rank = {}};
  for (const CheckpointFile& file : manifest.files) {
    saved.bytes_by_rank.push_back(file.bytes);
  }
  return saved;
}

}  // namespace shardscope
