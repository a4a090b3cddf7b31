#include "sim/text/comma_list.h"

#include <algorithm>

namespace shardscope {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  const std::size_t end = text.find_last_not_of(' ');
  return begin == std::string_view::npos ? "" : text.substr(begin, end - begin + 1);
}

std::vector<std::string> comma_list(std::string_view text) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    items.emplace_back(trimmed(text.substr(begin, comma - begin)));
    begin = comma + 1;
  }
  return items;
}

std::string comma_joined(const std::vector<std::string>& items) {
  std::string all;
  for (const std::string& item : items) {
    all += (all.empty() ? "" : ",") + item;
  }
  return all;
}

}  // namespace shardscope
