#include "sim/sweep/progress.h"

#include <cmath>
#include <cstdio>
#include <string>

#include "sim/report/format.h"

namespace shardscope {
namespace {

constexpr std::size_t kBarWidth = 30;

// "1 h 02 min", "3 min 20 s", "12 s".
std::string duration_words(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  char text[48];
  if (whole >= 3600) {
    std::snprintf(text, sizeof text, "%lld h %02lld min", whole / 3600, whole % 3600 / 60);
  } else if (whole >= 60) {
    std::snprintf(text, sizeof text, "%lld min %02lld s", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld s", whole);
  }
  return text;
}

std::string words(std::size_t done, std::size_t rows) {
  return format_count(done) + " of " + format_count(rows) + " rows";
}

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

SweepProgress::SweepProgress(std::size_t rows, std::size_t before, bool is_terminal)
    : rows_(rows),
      before_(before),
      is_terminal_(is_terminal),
      shown_tenth_(rows == 0 ? 0 : 10 * before / rows) {}

void SweepProgress::show(std::size_t done) {
  done_ = done;
  const Clock::time_point now = Clock::now();
  const double since_shown_s = seconds_between(shown_, now);
  const std::size_t tenth = rows_ == 0 ? 0 : 10 * (before_ + done) / rows_;
  if (is_terminal_ ? since_shown_s < 0.1 : since_shown_s < 1 || tenth == shown_tenth_) {
    return;
  }
  shown_ = now;
  shown_tenth_ = tenth;
  is_terminal_ ? show_bar(seconds_between(start_, now)) : show_line();
}

void SweepProgress::clear() const {
  if (is_terminal_) {
    std::fputs("\r\033[K", stderr);
  }
}

void SweepProgress::show_bar(double elapsed_s) const {
  const std::size_t all = before_ + done_;
  const std::size_t filled = rows_ == 0 ? kBarWidth : kBarWidth * all / rows_;
  std::string text = "\r\033[K[" + std::string(filled, '#') + std::string(kBarWidth - filled, ' ') +
                     "] " + words(all, rows_);
  if (done_ > 0) {
    const double rate = static_cast<double>(done_) / elapsed_s;
    text += ", " + significant(rate) + " a second, " +
            duration_words(static_cast<double>(rows_ - all) / rate) + " left";
  }
  std::fputs(text.c_str(), stderr);
}

void SweepProgress::show_line() const {
  std::fprintf(stderr, "%s\n", words(before_ + done_, rows_).c_str());
}

}  // namespace shardscope
