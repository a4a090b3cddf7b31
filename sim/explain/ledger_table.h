// What each rank holds and has sent, section by section.
#pragma once

#include <string>
#include <vector>

#include "sim/explain/marks.h"
#include "sim/explain/story.h"

namespace shardscope {

struct LedgerColumn {
  std::string title;
  Marks marks;
};

/// A row for each category that holds anything, for all of them and for what was sent; one for each
/// rank where ranks differ.
FigureTable ledger_table(const std::vector<LedgerColumn>& columns);

}  // namespace shardscope
