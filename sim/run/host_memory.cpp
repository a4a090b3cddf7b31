#include "sim/run/host_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "core/training/formulas.h"

namespace shardscope {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kProgramBytes = 60'000'000;

std::optional<std::uint64_t> read_number(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (file >> value) {
    return value;
  }
  return std::nullopt;
}

std::uint64_t meminfo_available(const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    std::uint64_t kibibytes = 0;
    if (words >> key >> kibibytes && key == "MemAvailable:") {
      return kibibytes * 1024;
    }
  }
  return kUnlimited;
}

// What one version of control groups calls its files.
struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* reclaimable;  // A counter in memory.stat.
};
constexpr GroupFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                  "total_inactive_file"};
constexpr GroupFiles kVersion2 = {"memory.max", "memory.current", "inactive_file"};

// The part of a group's usage that holds files read or written once; Linux takes it back when
// something else needs it.
std::uint64_t reclaimable_bytes(const std::filesystem::path& group, const GroupFiles& files) {
  std::ifstream file(group / "memory.stat");
  std::string counter;
  for (std::uint64_t bytes = 0; file >> counter >> bytes;) {
    if (counter == files.reclaimable) {
      return bytes;
    }
  }
  return 0;
}

// What a control group leaves.
std::uint64_t group_available(const std::filesystem::path& group, const GroupFiles& files) {
  const std::optional<std::uint64_t> most = read_number(group / files.limit);
  if (!most.has_value()) {
    return kUnlimited;  // "max", or not a memory group.
  }
  const std::uint64_t usage = read_number(group / files.usage).value_or(0);
  const std::uint64_t used = usage - std::min(usage, reclaimable_bytes(group, files));
  return *most - std::min(used, *most);
}

// The least that a group and all groups above it leave.
std::uint64_t groups_available(const std::filesystem::path& root, std::filesystem::path group,
                               const GroupFiles& files) {
  std::uint64_t available = group_available(root, files);
  group = group.relative_path();
  while (!group.empty()) {
    available = std::min(available, group_available(root / group, files));
    group = group.parent_path();
  }
  return available;
}

std::uint64_t cgroup_available(const HostMemoryFiles& files) {
  std::uint64_t available = kUnlimited;
  std::ifstream groups(files.cgroup_of_self);
  for (std::string line; std::getline(groups, line);) {  // hierarchy:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    const std::filesystem::path root = files.cgroup_root;
    if (controllers.empty()) {
      available = std::min(available, groups_available(root, path, kVersion2));
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      available = std::min(available, groups_available(root / "memory", path, kVersion1));
    }
  }
  return available;
}

std::uint64_t address_space_limit() {
  rlimit limit{};
  const bool known = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return known ? limit.rlim_cur : kUnlimited;
}

}  // namespace

std::uint64_t needed_host_bytes(const Scenario& scenario, const Strategy& strategy) {
  if (scenario.training.storage == Storage::shape_only) {
    return kProgramBytes;
  }
  // Of a contiguous buffer the host holds what is used.
  Strategy used = strategy;
  used.reduction.buckets.elements =
      std::min<std::uint64_t>(used.reduction.buckets.elements, scenario.model.parameters());
  // Ranks are alike unless they own whole tensors.
  const int ranks = strategy.partition == Partition::tensor_owner ? scenario.world_size : 1;
  std::uint64_t rank = 0;
  for (int r = 0; r < ranks; ++r) {
    rank = std::max(rank, predicted_peak_bytes(
                              {used, scenario.model, scenario.training, scenario.world_size, r}));
  }
  rank = std::min(rank, scenario.device.memory_bytes);
  return kProgramBytes + rank * static_cast<std::uint64_t>(scenario.world_size);
}

std::uint64_t available_host_bytes(const HostMemoryFiles& files) {
  return std::min(
      {meminfo_available(files.meminfo), cgroup_available(files), address_space_limit()});
}

}  // namespace shardscope
