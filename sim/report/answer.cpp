#include "sim/report/answer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include "sim/report/format.h"
#include "sim/report/ties.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

/// A completed run, by one figure that is to be small.
struct Contender {
  std::string strategy;
  double figure;
};

std::vector<Contender> best_of(const std::vector<Contender>& contenders) {
  const auto best =
      std::min_element(contenders.begin(), contenders.end(),
                       [](const auto& a, const auto& b) { return a.figure < b.figure; });
  std::vector<Contender> winners;
  for (const Contender& contender : contenders) {
    if (is_as_good(contender.figure, best->figure)) {
      winners.push_back(contender);
    }
  }
  return winners;
}

std::string names_of(const std::vector<Contender>& contenders) {
  std::vector<std::string> names;
  names.reserve(contenders.size());
  for (const Contender& contender : contenders) {
    names.push_back(contender.strategy);
  }
  return listed(names);
}

/// ", 34 % less than DDP (12 ms)": against the worst, if it is worse by a percent.
std::string advantage(const std::vector<Contender>& contenders, double best,
                      std::string (*format)(double, int)) {
  const auto worst =
      std::max_element(contenders.begin(), contenders.end(),
                       [](const auto& a, const auto& b) { return a.figure < b.figure; });
  const double saved = 1 - best / worst->figure;
  if (!(saved >= 0.01)) {
    return "";
  }
  return ", " + format_percent(saved) + " less than " + worst->strategy + " (" +
         format(worst->figure, 3) + ")";
}

/// "ZERO1 is fastest", "ZERO1 is fastest, as fast as ZERO2", or, if that is all, "ZERO1 is as fast
/// as ZERO2".
std::string fastest_words(const std::vector<Contender>& times,
                          const std::vector<Contender>& winners) {
  const std::string& first = winners.front().strategy;
  const std::string others = names_of({winners.begin() + 1, winners.end()});
  if (others.empty()) {
    return first + " is fastest with ";
  }
  return first + (winners.size() == times.size() ? " is" : " is fastest,") + " as fast as " +
         others + ", with ";
}

std::string fastest_sentence(const std::vector<Contender>& times) {
  const std::vector<Contender> winners = best_of(times);
  const double best = winners.front().figure;
  return fastest_words(times, winners) + format_seconds(best) + " a step" +
         advantage(times, best, format_seconds) + ".";
}

std::string smallest_sentence(const std::vector<Contender>& peaks) {
  const std::vector<Contender> winners = best_of(peaks);
  const double best = winners.front().figure;
  return names_of(winners) + (winners.size() == 1 ? " needs" : " need") + " least memory with " +
         format_bytes(best) + " per rank at peak" + advantage(peaks, best, format_bytes) + ".";
}

std::string only_sentence(const RunResult& run, const RunSummary& summary) {
  return printable(run.strategy()) + " takes " + format_seconds(summary.mean.wall_s) + " a step, " +
         format_percent(summary.mean.exposed_s / summary.mean.wall_s) +
         " of it waiting for communication, and " +
         format_bytes(static_cast<double>(summary.memory.peak_total)) + " per rank at peak.";
}

/// "1 to 3, 7 and 9"; the first few of many.
std::string steps_text(const std::vector<int>& steps) {
  constexpr std::size_t kMostNamed = 6;
  std::vector<std::string> parts;
  for (std::size_t first = 0; first < steps.size();) {
    std::size_t last = first;
    while (last + 1 < steps.size() && steps[last + 1] == steps[last] + 1) {
      ++last;
    }
    const std::string begin = std::to_string(steps[first]);
    parts.push_back(first == last ? begin : begin + " to " + std::to_string(steps[last]));
    first = last + 1;
  }
  if (parts.size() > kMostNamed) {
    parts.resize(kMostNamed - 1);
    parts.emplace_back("others");
  }
  return listed(parts);
}

/// A category as prose: without underscores.
std::string words_of(std::string category) {
  std::replace(category.begin(), category.end(), '_', ' ');
  return printable(category);
}

}  // namespace

std::vector<std::string> answer(const std::vector<RunResult>& runs,
                                const std::vector<RunSummary>& summaries) {
  std::vector<Contender> times;
  std::vector<Contender> peaks;
  std::size_t last_completed = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (summaries[i].completed) {
      const std::string strategy = printable(runs[i].strategy());
      times.push_back({strategy, summaries[i].mean.wall_s});
      peaks.push_back({strategy, static_cast<double>(summaries[i].memory.peak_total)});
      last_completed = i;
    }
  }
  if (times.size() > 1) {
    return {fastest_sentence(times), smallest_sentence(peaks)};
  }
  if (times.size() == 1) {
    return {only_sentence(runs[last_completed], summaries[last_completed])};
  }
  return {"no strategy completed."};
}

std::optional<std::string> divergence(const std::vector<RunResult>& runs) {
  std::vector<std::string> diverged;
  for (const RunResult& run : runs) {
    const auto first = std::find_if(run.steps().begin(), run.steps().end(), [](const auto& step) {
      return step.has_loss() && !std::isfinite(step.loss());
    });
    if (first != run.steps().end()) {
      diverged.push_back(printable(run.strategy()) + " from step " +
                         format_count(static_cast<std::uint64_t>(first->step())));
    }
  }
  if (diverged.empty()) {
    return std::nullopt;
  }
  return "The training diverges: the loss is not finite with " + listed(diverged) + " on.";
}

std::vector<std::string> skipped_sentences(const std::vector<RunResult>& runs,
                                           const std::vector<RunSummary>& summaries) {
  std::map<std::vector<int>, std::vector<std::string>> by_steps;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!summaries[i].skipped_steps.empty()) {
      by_steps[summaries[i].skipped_steps].push_back(printable(runs[i].strategy()));
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [steps, strategies] : by_steps) {
    const bool all = strategies.size() == runs.size() && runs.size() > 1;
    sentences.push_back((all ? "All strategies" : listed(strategies)) + " skipped " +
                        format_count(steps.size()) + (steps.size() == 1 ? " step" : " steps") +
                        ", because gradients overflowed: " + steps_text(steps) + ".");
  }
  return sentences;
}

std::vector<std::string> resumed_sentences(const std::vector<RunResult>& runs) {
  std::map<std::string, std::vector<std::string>> by_checkpoint;
  for (const RunResult& run : runs) {
    if (run.has_resumed_from()) {
      by_checkpoint[run.resumed_from()].push_back(printable(run.strategy()));
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [checkpoint, strategies] : by_checkpoint) {
    sentences.push_back("Resumed from " + printable(checkpoint) + ": " + listed(strategies) + ".");
  }
  return sentences;
}

std::string mishap(const Scenario& scenario, const RunResult& run) {
  const std::string strategy = printable(run.strategy());
  if (run.outcome() != "out_of_memory") {
    return strategy + " failed: " + printable(run.failure());
  }
  const OutOfMemoryResult& result = run.out_of_memory();
  const std::string when =
      result.step() == 0 ? "before the first step" : "in step " + std::to_string(result.step());
  const std::string where = result.layer().empty() ? "" : " of " + printable(result.layer());
  return strategy + " ran out of memory: rank " + std::to_string(result.rank()) + " " + when +
         " (" + printable(result.phase()) + ") wanted " +
         format_bytes(static_cast<double>(result.wanted_bytes())) + " for " +
         words_of(result.category()) + where + "; " +
         format_bytes(static_cast<double>(result.free_bytes())) + " of " +
         format_bytes(static_cast<double>(scenario.device.memory_bytes)) + " were free.";
}

}  // namespace shardscope
