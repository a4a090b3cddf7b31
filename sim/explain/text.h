// An explanation for a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "sim/explain/story.h"
#include "sim/report/table.h"

namespace shardscope {

struct TextOptions {
  bool colour = false;  ///< ANSI escapes; for terminals only.
  std::size_t width = kReportWidth;
};

/// Lines of at most so many columns, as far as a table's narrowest block allows; ends with a
/// newline.
std::string explanation_text(const Explanation& explanation, const TextOptions& options);

}  // namespace shardscope
