// The points of a range: from one end to the other in equal differences or equal ratios.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace shardscope {

struct RangeRequest {
  long double from = 0;
  long double to = 0;      ///< Greater than from.
  std::size_t points = 2;  ///< At least 2.
  bool is_log = false;     ///< Then from is greater than 0.
};

/// The points between the ends, without these, rounded to the fewest decimal digits, at least six,
/// that move none by more than a thousandth of its distance to the next.
std::vector<double> inner_points(const RangeRequest& request);

/// All points rounded to whole numbers, equal ones once. The ends are whole.
std::vector<long long> whole_points(const RangeRequest& request);

/// The shortest decimal text that is read back as the value, without exponent where that is common:
/// "0.25", "2.97141", "1e-08".
std::string shortest_text(double value);

}  // namespace shardscope
