#include "sim/text/fault.h"

namespace shardscope {
std::string format_fault(const Fault& fault) {
  std::string line = fault.place + ": ";
  if (!fault.field.empty()) line += fault.field + ": ";
  line += fault.problem;
  if (!fault.nearest.empty()) line += "; did you mean \"" + fault.nearest + "\"?";
  if (fault.allowed.empty()) return line;
  return fault.nearest.empty() ? line + "; " + fault.allowed : line + " (" + fault.allowed + ")";
}

std::string one_of(std::span<const std::string> names) {
  std::string text = "one of ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += ", ";
    text += names[i];
  }
  return text;
}

}  // namespace shardscope
