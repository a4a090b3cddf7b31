// An explanation in GitHub's Markdown.
#pragma once

#include <string>

#include "sim/explain/story.h"

namespace shardscope {

/// The facts of explanation_text, with headings and tables; ends with a newline.
std::string explanation_markdown(const Explanation& explanation);

}  // namespace shardscope
