// Where a quantity known at some points changes its sign, and where one stops to shrink.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace shardscope {

/// The quantity at one value of an axis. Points come with ascending x; `known` is false where there
/// is none, and no crossing is sought on either side of such a point.
struct Sample {
  double x = 0;
  double value = 0;
  double size = 0;  ///< Of what the value is a difference of: a tie with it is no sign.
  bool known = false;
};

struct Crossing {
  double at = 0;
  std::size_t low = 0;  ///< The samples it lies between.
  std::size_t high = 0;
  bool rising = false;  ///< From below zero to above.
};

/// Along which curve a quantity is taken to go from one sample to the next: a straight line over x,
/// over its logarithm, or over 1/x, as times do over a rate (x > 0).
enum class Between { linear, logarithmic, reciprocal };

/// Between neighbours of different sign, interpolated. Where the value is nothing in between, the
/// middle of that stretch is the place.
std::vector<Crossing> find_crossings(const std::vector<Sample>& samples, Between between);

/// Where a duration that shrinks with a rate x > 0 begins to shrink by less than `share` per
/// doubling of x, and never again by more, if between samples it is a straight line over 1/x. At
/// the first sample if it is so throughout; nothing if it still shrinks at the end, or if fewer
/// than two samples are known. Samples' values are the durations.
std::optional<Crossing> find_saturation(const std::vector<Sample>& samples, double share);

}  // namespace shardscope
