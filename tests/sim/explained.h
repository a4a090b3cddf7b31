// scenarios/explain.textproto, changed as a test wants it, and explained.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/collectives/planner.h"
#include "sim/explain/story.h"
#include "sim/run/sources.h"
#include "sim/scenario/scenario.h"

namespace shardscope::testing {

struct Explained {
  /// Assignments are those of --set. A fault in them fails the test.
  explicit Explained(const std::vector<std::string>& set, std::int64_t step = 1,
                     const CollectivePlanner& planner = ring_planner());

  Scenario scenario;
  Sources sources;
  Explanation explanation;
};

/// The blocks of one kind of all sections, in their order.
template <typename T>
std::vector<T> blocks_of(const Story& story) {
  std::vector<T> blocks;
  for (const Section& section : story.sections) {
    for (const Block& block : section.blocks) {
      if (const T* found = std::get_if<T>(&block)) {
        blocks.push_back(*found);
      }
    }
  }
  return blocks;
}

}  // namespace shardscope::testing
