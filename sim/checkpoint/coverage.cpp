// Gaps and overlaps of what ranks hold.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sim/checkpoint/faults.h"
#include "sim/checkpoint/manifest.h"

namespace shardscope {
namespace {

/// Gaps and overlaps that are named one by one.
constexpr std::size_t kMostNamed = 20;

/// A piece of a tensor and who holds it.
struct HeldRange {
  TensorRange range;
  std::size_t rank;
};

std::vector<HeldRange> held_ranges(const CheckpointManifest& manifest) {
  std::vector<HeldRange> held;
  for (std::size_t rank = 0; rank < manifest.files.size(); ++rank) {
    for (const TensorRange& range : manifest.files[rank].ranges) {
      held.push_back({range, rank});
    }
  }
  std::sort(held.begin(), held.end(), [](const HeldRange& a, const HeldRange& b) {
    return std::pair(a.range.tensor, a.range.begin) < std::pair(b.range.tensor, b.range.begin);
  });
  return held;
}

/// Collects gaps and overlaps, of which it names the first few.
class CoverageFaults {
 public:
  CoverageFaults(const std::vector<ModelTensor>& tensors, const std::string& place,
                 std::vector<Fault>& faults)
      : tensors_(tensors), place_(place), faults_(faults) {}

  ~CoverageFaults() {
    if (found_ > kMostNamed) {
      add(std::to_string(found_ - kMostNamed) + " more gaps and overlaps");
    }
  }
  CoverageFaults(const CoverageFaults&) = delete;
  CoverageFaults& operator=(const CoverageFaults&) = delete;

  void gap(const TensorRange& range) {
    if (range.begin < range.end && ++found_ <= kMostNamed) {
      add(range_name(tensors_[range.tensor], range) + " is held by no rank");
    }
  }

  void overlap(const TensorRange& range, std::size_t first, std::size_t second) {
    if (++found_ <= kMostNamed) {
      add(range_name(tensors_[range.tensor], range) + " is held by rank " + std::to_string(first) +
          " and again by rank " + std::to_string(second));
    }
  }

 private:
  void add(std::string problem) {
    faults_.push_back(fault_at(place_, "files", std::move(problem), "every element once"));
  }

  const std::vector<ModelTensor>& tensors_;
  const std::string& place_;
  std::vector<Fault>& faults_;
  std::size_t found_ = 0;
};

}  // namespace

void check_coverage(const CheckpointManifest& manifest, const std::vector<ModelTensor>& tensors,
                    const std::string& place, std::vector<Fault>& faults) {
  CoverageFaults found(tensors, place, faults);
  const std::vector<HeldRange> held = held_ranges(manifest);
  auto next = held.begin();
  for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
    std::size_t covered = 0;
    std::size_t last_rank = 0;
    for (; next != held.end() && next->range.tensor == tensor; ++next) {
      found.gap({tensor, covered, next->range.begin});
      if (next->range.begin < covered) {
        found.overlap({tensor, next->range.begin, std::min(covered, next->range.end)}, last_rank,
                      next->rank);
      }
      if (next->range.end > covered) {
        covered = next->range.end;
        last_rank = next->rank;
      }
    }
    found.gap({tensor, covered, tensors[tensor].count});
  }
}

}  // namespace shardscope
