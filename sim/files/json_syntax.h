// Syntax errors as JsonCpp reports them.
#pragma once

#include <string>
#include <vector>

namespace shardscope {

struct JsonSyntaxError {
  int line = 0;
  int column = 0;
  std::string message;  ///< Fit for a terminal.
};

/// The errors in a text of Json::CharReader::parse: "* Line 3, Column 5", a message and perhaps
/// "See Line 2, Column 1 for detail.", each on a line of its own.
std::vector<JsonSyntaxError> json_syntax_errors(const std::string& text);

}  // namespace shardscope
