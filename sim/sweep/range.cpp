#include "sim/sweep/range.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace shardscope {
namespace {

constexpr int kFewestDigits = 6;
constexpr int kMostDigits = 17;  // More tell no two doubles apart.
constexpr long double kLargestShift = 1e-3L;

long double exact_point(const RangeRequest& request, std::size_t i) {
  const long double part =
      static_cast<long double>(i) / static_cast<long double>(request.points - 1);
  if (i == request.points - 1) {
    return request.to;
  }
  return request.is_log ? request.from * std::pow(request.to / request.from, part)
                        : request.from + (request.to - request.from) * part;
}

double rounded(long double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*Le", digits - 1, value);
  return std::strtod(text.data(), nullptr);
}

bool keeps_distances(const RangeRequest& request, const std::vector<double>& points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const long double exact = exact_point(request, i + 1);
    const long double step =
        std::min(exact - exact_point(request, i), exact_point(request, i + 2) - exact);
    if (std::abs(points[i] - exact) > kLargestShift * step) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<double> inner_points(const RangeRequest& request) {
  std::vector<double> points(request.points - 2);
  for (int digits = kFewestDigits; digits <= kMostDigits; ++digits) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i] = rounded(exact_point(request, i + 1), digits);
    }
    if (keeps_distances(request, points)) {
      break;
    }
  }
  return points;
}

std::vector<long long> whole_points(const RangeRequest& request) {
  std::vector<long long> points;
  for (std::size_t i = 0; i < request.points; ++i) {
    const long long point = std::llround(exact_point(request, i));
    if (points.empty() || points.back() < point) {
      points.push_back(point);
    }
  }
  return points;
}

std::string shortest_text(double value) {
  const double size = std::abs(value);
  const bool common = value == 0 || (size >= 1e-4 && size < 1e15);
  std::array<char, 64> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value,
                    common ? std::chars_format::fixed : std::chars_format::scientific);
  return {text.data(), end};
}

}  // namespace shardscope
