// Findings of one kind along one axis as a table: a row for each strategy or pair, a column for
// each combination of the other axes' values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/report/table.h"
#include "sim/sweep/findings.h"

namespace shardscope {

struct TableOfFindings {
  Table table;
  std::size_t left_out = 0;  ///< Rows that would have made it too long.
  std::string note;          ///< What a word in it means; empty if it needs none.
};

/// If the combinations are many, one column says from where to where the places lie. Of overtakes
/// an asterisk marks those that lead, which come first. What saturates at every value has "any" as
/// its place. Empty if there are none.
TableOfFindings findings_table(const Sweep& sweep, const std::vector<Finding>& findings,
                               std::size_t axis, FindingKind kind);

}  // namespace shardscope
