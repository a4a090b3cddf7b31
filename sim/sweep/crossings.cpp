#include "sim/sweep/crossings.h"

#include <cmath>

#include "sim/report/ties.h"

namespace shardscope {
namespace {

int sign_of(const Sample& sample) {
  if (std::abs(sample.value) <= kTie * sample.size) {
    return 0;
  }
  return sample.value > 0 ? 1 : -1;
}

double place_between(double low, double high, double part, Between between) {
  switch (between) {
    case Between::linear:
      break;
    case Between::logarithmic:
      return low * std::pow(high / low, part);
    case Between::reciprocal:
      return 1 / (1 / low + (1 / high - 1 / low) * part);
  }
  return low + (high - low) * part;
}

double place_of(const std::vector<Sample>& samples, std::size_t low, std::size_t high,
                Between between) {
  if (high > low + 1) {
    return place_between(samples[low + 1].x, samples[high - 1].x, 0.5, between);
  }
  const double part = samples[low].value / (samples[low].value - samples[high].value);
  return place_between(samples[low].x, samples[high].x, part, between);
}

// A duration a + b / x between two samples.
class Stretch {
 public:
  Stretch(const Sample& low, const Sample& high)
      : b_((low.value - high.value) / (1 / low.x - 1 / high.x)), a_(high.value - b_ / high.x) {}

  // The share by which doubling x shortens it.
  double gain_at(double x) const { return b_ / x / 2 / (a_ + b_ / x); }

  double place_of(double gain) const { return b_ * (0.5 - gain) / (gain * a_); }

 private:
  double b_;
  double a_;
};

}  // namespace

std::vector<Crossing> find_crossings(const std::vector<Sample>& samples, Between between) {
  std::vector<Crossing> crossings;
  const Sample* last = nullptr;  // The last sample before that has a sign.
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].known) {
      last = nullptr;
      continue;
    }
    const int sign = sign_of(samples[i]);
    if (sign == 0) {
      continue;
    }
    if (last != nullptr && sign_of(*last) != sign) {
      const auto low = static_cast<std::size_t>(last - samples.data());
      crossings.push_back({place_of(samples, low, i, between), low, i, sign > 0});
    }
    last = &samples[i];
  }
  return crossings;
}

std::optional<Crossing> find_saturation(const std::vector<Sample>& samples, double share) {
  std::size_t last = samples.size();  // Walking down from the end as long as the gains are small.
  while (last > 0 && !samples[last - 1].known) {
    --last;
  }
  if (last == 0) {
    return std::nullopt;
  }
  std::size_t first = last - 1;
  while (first > 0 && samples[first - 1].known && samples[first - 1].x > 0) {
    const Stretch stretch(samples[first - 1], samples[first]);
    if (!(stretch.gain_at(samples[first - 1].x) < share)) {
      const bool shrinks_throughout = !(stretch.gain_at(samples[first].x) < share);
      if (shrinks_throughout && first == last - 1) {
        return std::nullopt;
      }
      const double at = shrinks_throughout ? samples[first].x : stretch.place_of(share);
      return Crossing{at, first - 1, first, false};
    }
    --first;
  }
  if (first == last - 1) {
    return std::nullopt;
  }
  return Crossing{samples[first].x, first, first, false};
}

}  // namespace shardscope
