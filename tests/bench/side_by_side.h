// Two pieces of code timed in turns, so that whatever else the machine does meets both.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace shardscope::bench {

template <typename F>
double seconds(F&& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The benchmark's time is that of `code`; its counter "speed_of_baseline" is how fast that is, the
/// baseline being 1 (the ratio of the median times).
template <typename Code, typename Baseline>
void side_by_side(benchmark::State& state, Code&& code, Baseline&& baseline) {
  std::vector<double> of_code;
  std::vector<double> of_baseline;
  for (auto _ : state) {
    of_code.push_back(seconds(code));
    of_baseline.push_back(seconds(baseline));
    state.SetIterationTime(of_code.back());
  }
  state.counters["speed_of_baseline"] = median(of_baseline) / median(of_code);
}

}  // namespace shardscope::bench
