// What each rank holds and has sent, section by section.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/explain/step_log.h"
#include "sim/explain/story.h"

namespace shardscope {

/// A moment of each rank.
using Marks = std::vector<const Moment*>;

struct LedgerColumn {
  std::string title;
  Marks marks;
};

/// A row for each category that holds anything, for all of them and for what was sent; one for each
/// rank where ranks differ.
FigureTable ledger_table(const std::vector<LedgerColumn>& columns);

/// All categories, and those of the model states.
std::uint64_t held_bytes(const Moment& moment);
std::uint64_t state_bytes(const Moment& moment);

}  // namespace shardscope
