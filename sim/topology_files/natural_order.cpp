#include "sim/topology_files/natural_order.h"

#include <algorithm>
#include <cstddef>

namespace shardscope {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes the digits that a text begins with, leading zeros dropped.
std::string_view take_number(std::string_view& text) {
  const std::size_t length =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  std::string_view number = text.substr(0, length);
  text.remove_prefix(length);
  while (!number.empty() && number.front() == '0') {
    number.remove_prefix(1);
  }
  return number;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::string_view rest_a = a;
  std::string_view rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    if (is_digit(rest_a.front()) && is_digit(rest_b.front())) {
      const std::string_view number_a = take_number(rest_a);
      const std::string_view number_b = take_number(rest_b);
      if (number_a != number_b) {
        return number_a.size() != number_b.size() ? number_a.size() < number_b.size()
                                                  : number_a < number_b;
      }
    } else if (rest_a.front() != rest_b.front()) {
      return rest_a.front() < rest_b.front();
    } else {
      rest_a.remove_prefix(1);
      rest_b.remove_prefix(1);
    }
  }
  return rest_a.empty() == rest_b.empty() ? a < b : rest_a.empty();
}

}  // namespace shardscope
