#include "sim/checkpoint/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/check.h"
#include "sim/checkpoint/faults.h"
#include "sim/files/safetensors.h"

namespace shardscope {
namespace {

namespace fs = std::filesystem;

std::string in(const std::string& folder, std::string_view name) {
  return (fs::path(folder) / name).string();
}

/// Reads the descriptor to its end, at most `most` bytes and one more.
std::optional<std::string> read_all(int descriptor, std::size_t most) {
  constexpr std::size_t kAtOnce = 65536;
  std::string text;
  while (text.size() <= most) {
    const std::size_t before = text.size();
    text.resize(before + kAtOnce);
    const ssize_t got = ::read(descriptor, text.data() + before, kAtOnce);
    if (got < 0 && errno != EINTR) {
      return std::nullopt;
    }
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) {
      break;
    }
  }
  return text;
}

std::string open_problem(int error) {
  if (error == ENOENT) {
    return "missing: the folder holds no whole checkpoint";
  }
  return error == ELOOP ? "is a symbolic link; a checkpoint has none"
                        : "cannot be read: " + std::generic_category().message(error);
}

/// The manifest's text; nothing, and a fault, if it cannot be had.
std::optional<std::string> read_manifest(const std::string& path, std::vector<Fault>& faults) {
  const auto fail = [&](std::string problem) {
    faults.push_back(fault_at(path, "", std::move(problem)));
    return std::nullopt;
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) {
    return fail(open_problem(errno));
  }
  struct stat status {};
  const bool is_file = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  auto text = is_file ? read_all(descriptor, kLongestManifest) : std::nullopt;
  const int error = errno;
  ::close(descriptor);
  if (!is_file) {
    return fail("is not a regular file");
  }
  if (!text.has_value()) {
    return fail(open_problem(error));
  }
  if (text->size() > kLongestManifest) {
    return fail("is longer than " + std::to_string(kLongestManifest) + " bytes");
  }
  return text;
}

/// A name from a file system without the slash at its end.
std::string last_name(const std::string& folder) {
  const fs::path path = folder;
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

/// A folder that was renamed by hand would be taken for another step.
void check_folder_name(const std::string& folder, const CheckpointManifest& manifest,
                       std::vector<Fault>& faults) {
  const auto steps = parse_step_folder_name(last_name(folder));
  if (steps.has_value() && *steps != manifest.progress.steps) {
    faults.push_back(fault_at(in(folder, kManifestName), "progress.steps",
                              std::to_string(manifest.progress.steps) + " is not allowed",
                              std::to_string(*steps) + ", as the folder's name says"));
  }
}

/// Rank files that the manifest does not name.
void check_foreign(const std::string& folder, const CheckpointManifest& manifest,
                   std::vector<Fault>& faults) {
  std::vector<std::string> known;
  for (const CheckpointFile& file : manifest.files) {
    known.push_back(file.name);
  }
  std::sort(known.begin(), known.end());
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool is_rank_file =
        name.rfind("rank-", 0) == 0 && entry.path().extension() == ".safetensors";
    if (is_rank_file && !std::binary_search(known.begin(), known.end(), name)) {
      faults.push_back(fault_at(entry.path().string(), "",
                                "is no file of the checkpoint: the manifest does not name it"));
    }
  }
}

/// Whether the name in a folder is a folder itself, and no link.
bool is_real_folder(const fs::directory_entry& entry) {
  std::error_code ignored;
  return entry.symlink_status(ignored).type() == fs::file_type::directory;
}

/// A strategy's steps, ascending, with their folders.
std::vector<std::pair<std::int64_t, std::string>> steps_of(const std::string& folder) {
  std::vector<std::pair<std::int64_t, std::string>> steps;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto number = parse_step_folder_name(entry.path().filename().string());
    if (number.has_value() && is_real_folder(entry)) {
      steps.emplace_back(*number, entry.path().string());
    }
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

/// The folders in a checkpoint directory that hold steps, by name.
std::vector<std::string> strategy_folders(const std::string& directory) {
  std::vector<std::string> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (is_strategy_name(entry.path().filename().string()) && is_real_folder(entry) &&
        !steps_of(entry.path().string()).empty()) {
      folders.push_back(entry.path().string());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

bool has_manifest(const std::string& folder) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(in(folder, kManifestName), ignored));
}

/// Whether the path is a checkpoint's own folder, be it by its name alone.
bool is_step_folder(const std::string& path) {
  return has_manifest(path) || parse_step_folder_name(last_name(path)).has_value();
}

void report_nothing_there(const std::string& path, std::vector<Fault>& faults) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  std::string problem = "holds no checkpoint";
  if (error) {
    problem = error.message();
  } else if (!is_folder) {
    problem = "is not a folder";
  }
  faults.push_back(fault_at(path, "", std::move(problem),
                            "a folder step-<steps>, or one that holds such folders"));
}

/// The folder that holds the steps which are meant; nothing, and a fault, if it is not clear.
std::optional<std::string> find_strategy_folder(const std::string& path,
                                                const std::optional<std::string>& strategy,
                                                std::vector<Fault>& faults) {
  if (!steps_of(path).empty()) {
    return path;
  }
  const std::vector<std::string> folders = strategy_folders(path);
  if (folders.empty()) {
    report_nothing_there(path, faults);
    return std::nullopt;
  }
  std::vector<std::string> names;
  names.reserve(folders.size());
  for (const std::string& folder : folders) {
    names.push_back(last_name(folder));
    if (strategy == names.back()) {
      return folder;
    }
  }
  if (strategy.has_value() || folders.size() > 1) {
    faults.push_back(fault_at(path, "",
                              strategy.has_value() ? "holds no checkpoint of " + *strategy
                                                   : "holds checkpoints of several strategies",
                              one_of(names)));
    return std::nullopt;
  }
  return folders.front();
}

/// The newest checkpoint below the newest of all that is whole, if there is one.
std::optional<std::string> older_one(std::vector<std::pair<std::int64_t, std::string>> steps) {
  for (steps.pop_back(); !steps.empty(); steps.pop_back()) {
    std::vector<Fault> ignored;
    if (CheckpointSource::open(steps.back().second, ignored) != nullptr) {
      return steps.back().second;
    }
  }
  return std::nullopt;
}

template <typename Value>
void compare(const CheckpointSource& source, const std::string& field, const Value& there,
             const Value& here, std::vector<Fault>& faults) {
  if (there != here) {
    faults.push_back(fault_at(in(source.folder(), kManifestName), field,
                              std::string(there) + " is not that of the model", std::string(here)));
  }
}

std::string widths_text(const ModelSpec& model) {
  return shape_text(std::vector<std::uint64_t>(model.widths.begin(), model.widths.end()));
}

}  // namespace

CheckpointSource::CheckpointSource(std::string folder, CheckpointManifest manifest)
    : folder_(std::move(folder)), manifest_(std::move(manifest)), files_(manifest_.files.size()) {
  const std::vector<ModelTensor> tensors = model_tensors(manifest_.run.model);
  for (std::size_t rank = 0; rank < manifest_.files.size(); ++rank) {
    const auto& ranges = manifest_.files[rank].ranges;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      pieces_.push_back({tensors[ranges[i].tensor].begin + ranges[i].begin,
                         ranges[i].end - ranges[i].begin, rank, i});
    }
  }
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
}

std::unique_ptr<CheckpointSource> CheckpointSource::open(const std::string& folder,
                                                         std::vector<Fault>& faults) {
  const std::size_t before = faults.size();
  const std::string path = in(folder, kManifestName);
  const std::optional<std::string> text = read_manifest(path, faults);
  auto manifest = text ? parse_manifest(*text, path, faults) : std::nullopt;
  if (!manifest.has_value()) {
    return nullptr;
  }
  std::unique_ptr<CheckpointSource> source(new CheckpointSource(folder, *std::move(manifest)));
  const std::vector<ModelTensor> tensors = model_tensors(source->manifest_.run.model);
  check_coverage(source->manifest_, tensors, path, faults);
  check_folder_name(folder, source->manifest_, faults);
  check_foreign(folder, source->manifest_, faults);
  for (std::size_t rank = 0; rank < source->files_.size(); ++rank) {
    const CheckpointFile& file = source->manifest_.files[rank];
    if (!file.name.empty()) {
      source->files_[rank] = RankFile::open(folder, file, tensors, faults);
    }
  }
  return faults.size() == before ? std::move(source) : nullptr;
}

std::size_t CheckpointSource::file_count() const {
  return static_cast<std::size_t>(std::count_if(files_.begin(), files_.end(),
                                                [](const auto& file) { return file.has_value(); }));
}

std::uint64_t CheckpointSource::bytes() const {
  std::uint64_t bytes = 0;
  for (const CheckpointFile& file : manifest_.files) {
    bytes += file.bytes;
  }
  return bytes;
}

void CheckpointSource::read(StateVector which, std::size_t begin, Tensor out) const {
  const std::size_t parameters = pieces_.back().begin + pieces_.back().count;
  SHARDSCOPE_CHECK(begin <= parameters && out.count <= parameters - begin,
                   "elements beyond the model's end");
  float* next = out.fp32();
  auto piece = std::upper_bound(
      pieces_.begin(), pieces_.end(), begin,
      [](std::size_t element, const Piece& candidate) { return element < candidate.begin; });
  --piece;
  for (std::size_t left = out.count; left > 0; ++piece) {
    const std::size_t first = begin - piece->begin;
    const std::size_t count = std::min(left, piece->count - first);
    files_[piece->rank]->read(which, piece->range, first, count, next);
    next += count;
    begin += count;
    left -= count;
  }
}

std::vector<std::string> find_checkpoints(const std::string& path, std::vector<Fault>& faults) {
  if (is_step_folder(path)) {
    return {path};
  }
  std::vector<std::string> folders = strategy_folders(path);
  if (!steps_of(path).empty()) {
    folders = {path};
  }
  std::vector<std::string> found;
  for (const std::string& folder : folders) {
    for (auto& [steps, step_folder] : steps_of(folder)) {
      found.push_back(std::move(step_folder));
    }
  }
  if (found.empty()) {
    report_nothing_there(path, faults);
  }
  return found;
}

std::optional<std::int64_t> newest_steps(const std::string& directory, std::string_view strategy) {
  const auto steps = steps_of(in(directory, strategy));
  return steps.empty() ? std::nullopt : std::optional(steps.back().first);
}

std::unique_ptr<CheckpointSource> open_checkpoint(const std::string& path,
                                                  const std::optional<std::string>& strategy,
                                                  std::vector<Fault>& faults) {
  if (is_step_folder(path)) {
    return CheckpointSource::open(path, faults);
  }
  const auto folder = find_strategy_folder(path, strategy, faults);
  if (!folder.has_value()) {
    return nullptr;
  }
  const auto steps = steps_of(*folder);
  auto source = CheckpointSource::open(steps.back().second, faults);
  if (source == nullptr) {
    if (const auto older = older_one(steps)) {
      faults.push_back(fault_at(steps.back().second, "", "is the newest checkpoint and has faults",
                                "the newest without any is " + *older));
    }
  }
  return source;
}

void check_model(const CheckpointSource& source, const ModelSpec& model,
                 std::vector<Fault>& faults) {
  const ModelSpec& there = source.manifest().run.model;
  compare(source, "model.widths", widths_text(there), widths_text(model), faults);
  compare(source, "model.activation", name(there.activation), name(model.activation), faults);
  compare(source, "model.loss", name(there.loss), name(model.loss), faults);
}

}  // namespace shardscope
