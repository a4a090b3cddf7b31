// How far a sweep is, on standard error.
#pragma once

#include <chrono>
#include <cstddef>

namespace shardscope {

/// On a terminal a bar with the rate and the time left; elsewhere a line at each tenth of the rows,
/// but one a second at most.
class SweepProgress {
 public:
  /// `before` of the rows were there already.
  SweepProgress(std::size_t rows, std::size_t before, bool is_terminal);

  /// So many more rows are there.
  void show(std::size_t done);

  /// Takes the bar away.
  void clear() const;

 private:
  using Clock = std::chrono::steady_clock;

  void show_bar(double elapsed_s) const;
  void show_line() const;

  std::size_t rows_;
  std::size_t before_;
  std::size_t done_ = 0;
  bool is_terminal_;
  std::size_t shown_tenth_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
};

}  // namespace shardscope
