#include "sim/files/json_syntax.h"

#include <cstdio>
#include <sstream>

#include "sim/text/printable.h"

namespace shardscope {

std::vector<JsonSyntaxError> json_syntax_errors(const std::string& text) {
  std::vector<JsonSyntaxError> errors;
  std::istringstream lines(text);
  int line_number = 0;
  int column = 0;
  for (std::string line; std::getline(lines, line);) {
    if (std::sscanf(line.c_str(), "* Line %d, Column %d", &line_number, &column) == 2) {
      continue;
    }
    const std::size_t begin = line.find_first_not_of(' ');
    const std::size_t end = line.find_last_not_of(" .");
    if (begin == std::string::npos || end == std::string::npos || line.starts_with("See Line")) {
      continue;
    }
    errors.push_back({line_number, column, printable(line.substr(begin, end - begin + 1))});
  }
  return errors;
}

}  // namespace shardscope
