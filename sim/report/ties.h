// When two strategies are as good as each other.
#pragma once

namespace shardscope {

/// Figures that differ by a smaller share than this are equal: no model behind them is as fine, and
/// three digits do not show it. html/app/answer.js has the same.
inline constexpr double kTie = 1e-3;

/// Whether the figure is as good as the best, which is the smallest.
inline bool is_as_good(double figure, double best) { return figure <= best * (1 + kTie); }

}  // namespace shardscope
