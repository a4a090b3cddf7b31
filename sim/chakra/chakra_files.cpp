#include "sim/chakra/chakra_files.h"

#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include "core/check.h"
#include "core/collectives/plan.h"
#include "sim/chakra/chakra_writer.h"
#include "sim/chakra/communicator_groups.h"
#include "sim/files/atomic_file.h"
#include "sim/result/result.pb.h"

namespace shardscope {
namespace {

using Ranks = std::vector<const RankRecording*>;

Ranks last_step(const RunResult& run) {
  const int first = run.recordings_size() - run.world_size();
  SHARDSCOPE_CHECK(first >= 0, "no step was recorded");
  Ranks ranks;
  for (int i = first; i < run.recordings_size(); ++i) {
    ranks.push_back(&run.recordings(i));
  }
  return ranks;
}

bool broadcasts(const Ranks& ranks) {
  for (const RecordedCollective& collective : ranks.front()->communication()) {
    if (collective.operation() == name(Operation::broadcast) && collective.group().size() > 1) {
      return true;
    }
  }
  return false;
}

// Files that are complete on disk before the first of them takes its name.
class FileSet {
 public:
  void add(const std::string& path, std::string_view content) {
    if (error_.has_value()) {
      return;
    }
    File& file = files_.emplace_back(File{path, std::make_unique<AtomicFile>(path)});
    file.file->write(content);
    error_ = file.file->close();
  }

  std::optional<std::string> commit() {
    for (std::size_t i = 0; i < files_.size() && !error_.has_value(); ++i) {
      error_ = files_[i].file->commit();
      if (error_.has_value()) {
        remove(i);
      }
    }
    return error_;
  }

 private:
  struct File {
    std::string path;
    std::unique_ptr<AtomicFile> file;
  };

  void remove(std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      std::error_code ignored;
      std::filesystem::remove(files_[i].path, ignored);
    }
  }

  std::vector<File> files_;
  std::optional<std::string> error_;
};

}  // namespace

std::string chakra_path(const std::string& prefix, int rank) {
  return prefix + "." + std::to_string(rank) + ".et";
}

std::string chakra_groups_path(const std::string& prefix) { return prefix + ".groups.json"; }

std::vector<std::string> chakra_paths(const std::string& prefix, int world_size) {
  std::vector<std::string> paths;
  for (int rank = 0; rank < world_size; ++rank) {
    paths.push_back(chakra_path(prefix, rank));
  }
  paths.push_back(chakra_groups_path(prefix));
  return paths;
}

ChakraResult write_chakra(const std::string& prefix, const RunResult& run,
                          const ChakraAbout& about) {
  const Ranks ranks = last_step(run);
  const CommunicatorGroups groups(ranks);
  FileSet files;
  for (const RankRecording* rank : ranks) {
    files.add(chakra_path(prefix, rank->rank()), chakra_trace(*rank, groups, about));
  }
  if (!groups.empty()) {
    files.add(chakra_groups_path(prefix), groups.json());
  }
  return {
      .error = files.commit(), .has_groups = !groups.empty(), .has_broadcasts = broadcasts(ranks)};
}

}  // namespace shardscope
