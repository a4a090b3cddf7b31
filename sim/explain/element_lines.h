// A table of elements as lines of text: each element under its name, each chunk in brackets.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/explain/story.h"

namespace shardscope {

/// At most `width` columns wide: what does not fit follows in further blocks, cut between chunks if
/// one fits.
std::string element_lines(const ElementTable& table, const std::vector<Column>& columns,
                          std::size_t width);

/// Whether one chunk ends and another begins before the column `index` > 0.
bool is_cut(const ElementTable& table, std::size_t index);

}  // namespace shardscope
