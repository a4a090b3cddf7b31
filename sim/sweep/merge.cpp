#include "sim/sweep/merge.h"

#include <cstddef>
#include <utility>

#include "sim/report/format.h"
#include "sim/sweep/folder.h"
#include "sim/sweep/identity.h"

namespace shardscope {
namespace {

struct NamedSweep {
  std::string folder;
  Sweep sweep;
};

bool is_same_sweep(const NamedSweep& first, const NamedSweep& other,
                   std::vector<std::string>& problems) {
  std::vector<std::string> found = differences(other.sweep, first.sweep);
  if (found.empty() && other.sweep.shard.count != first.sweep.shard.count) {
    found.push_back("shards: " + std::to_string(other.sweep.shard.count) + " there, " +
                    std::to_string(first.sweep.shard.count) + " here");
  }
  for (const std::string& difference : found) {
    problems.push_back(other.folder + ": is part of another sweep than " + first.folder + ": " +
                       difference);
  }
  return found.empty();
}

void refuse_gaps_and_duplicates(const std::vector<NamedSweep>& sweeps,
                                std::vector<std::string>& problems) {
  const std::size_t count = sweeps.front().sweep.shard.count;
  std::vector<const NamedSweep*> by_index(count, nullptr);
  for (const NamedSweep& named : sweeps) {
    const NamedSweep*& place = by_index[named.sweep.shard.index - 1];
    if (place != nullptr) {
      problems.push_back(named.folder + ": is " + shard_words(named.sweep.shard) + ", and so is " +
                         place->folder);
    }
    place = &named;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (by_index[i] == nullptr) {
      problems.push_back(shard_words({i + 1, count}) + " is missing");
    }
  }
}

StorePart read_part(const NamedSweep& named, std::vector<std::string>& problems) {
  const std::string path = points_path(named.folder);
  StorePart part{path, read_store(path, named.sweep, nullptr, problems).lines};
  const std::size_t own = points_of_shard(named.sweep).size() * named.sweep.strategies.size();
  const std::size_t missing = missing_tasks(named.sweep, part.lines).size();
  if (missing > 0) {
    problems.push_back(named.folder + ": lacks " + format_count(missing) + " of its " +
                       format_count(own) + " rows; shardscope sweep --resume goes on with it");
  }
  if (part.lines.size() + missing != own) {
    problems.push_back(path + ": has rows of other shards");
  }
  return part;
}

}  // namespace

std::optional<Shards> read_shards(const std::vector<std::string>& folders,
                                  std::vector<std::string>& problems) {
  const std::size_t before = problems.size();
  std::vector<NamedSweep> sweeps;
  for (const std::string& folder : folders) {
    if (std::optional<Sweep> sweep = read_folder(folder, problems)) {
      sweeps.push_back({folder, std::move(*sweep)});
    }
  }
  bool same = true;
  for (std::size_t i = 1; i < sweeps.size(); ++i) {
    same = is_same_sweep(sweeps.front(), sweeps[i], problems) && same;
  }
  if (sweeps.size() != folders.size() || !same) {
    return std::nullopt;
  }
  refuse_gaps_and_duplicates(sweeps, problems);
  Shards shards{sweeps.front().sweep, {}};
  shards.whole.shard = {};
  for (const NamedSweep& named : sweeps) {
    shards.parts.push_back(read_part(named, problems));
  }
  return problems.size() == before ? std::optional(std::move(shards)) : std::nullopt;
}

}  // namespace shardscope
