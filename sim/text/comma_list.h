// Lists on the command line: "8,64,512".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardscope {

/// Without the blanks around it.
std::string_view trimmed(std::string_view text);

/// What is between the commas, trimmed; one item more than there are commas.
std::vector<std::string> comma_list(std::string_view text);

/// The items, with commas between them.
std::string comma_joined(const std::vector<std::string>& items);

/// The first value that is there a second time.
template <typename Value>
std::optional<Value> find_twice(const std::vector<Value>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (values[i] == values[j]) {
        return values[i];
      }
    }
  }
  return std::nullopt;
}

}  // namespace shardscope
