#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/report/format.h"
#include "sim/report/sections.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

bool is_plain(const Cluster& cluster) {
  return is_plain_star(cluster.spec) && cluster.rank_speeds.empty() &&
         cluster.link_changes.empty() && cluster.background.empty();
}

// Of a rank in a step, the mean over all steps but the first.
struct RankTime {
  double compute_s = 0;
  double exposed_s = 0;
};

RankTime mean_of(const RankResult& rank) {
  const int first = rank.steps_size() > 1 ? 1 : 0;
  const int count = rank.steps_size() - first;
  RankTime mean;
  for (int i = first; i < rank.steps_size(); ++i) {
    const TimeSplit& time = rank.steps(i).time();
    mean.compute_s += (time.forward_s() + time.backward_s() + time.optimizer_s()) / count;
    mean.exposed_s += time.exposed_communication_s() / count;
  }
  return mean;
}

// The rank that computes longest, and the mean of the others.
struct Waiting {
  int slowest = 0;
  RankTime its;
  RankTime others;
};

Waiting waiting_of(const RunResult& run) {
  std::vector<RankTime> times;
  for (const RankResult& rank : run.ranks()) {
    times.push_back(mean_of(rank));
  }
  const auto slowest = std::max_element(
      times.begin(), times.end(),
      [](const RankTime& a, const RankTime& b) { return a.compute_s < b.compute_s; });
  Waiting waiting{static_cast<int>(slowest - times.begin()), *slowest, {}};
  const auto others = static_cast<double>(times.size() - 1);
  for (const RankTime& time : times) {
    if (&time != &*slowest) {
      waiting.others.compute_s += time.compute_s / others;
      waiting.others.exposed_s += time.exposed_s / others;
    }
  }
  return waiting;
}

// Whether ranks differ by more than what is worth a table.
bool waits(const RunResult& run) {
  constexpr double kLeastShare = 0.01;
  double least_s = 0;
  double most_s = 0;
  double wall_s = 0;
  for (const RankResult& rank : run.ranks()) {
    const RankTime time = mean_of(rank);
    const bool is_first = &rank == &run.ranks(0);
    least_s = is_first ? time.exposed_s : std::min(least_s, time.exposed_s);
    most_s = std::max(most_s, time.exposed_s);
    wall_s = std::max(wall_s, time.compute_s + time.exposed_s);
  }
  return most_s - least_s > kLeastShare * wall_s;
}

void write_ranks(const ComparedRuns& compared, Page& page) {
  double longest = 0;
  for_completed(compared, [&](const RunResult& run, const RunSummary&) {
    const Waiting waiting = waiting_of(run);
    longest = std::max({longest, waiting.its.compute_s, waiting.others.exposed_s});
  });
  const Unit unit = time_unit(longest);
  const auto figure = [&](double seconds) { return significant(seconds / unit.size); };
  Table table = strategy_table({"computes\nlongest", "its\ncompute", "its\nexposed",
                                "others'\ncompute", "others'\nexposed"});
  for_completed(compared, [&](const RunResult& run, const RunSummary&) {
    if (!waits(run)) {
      return;
    }
    const Waiting waiting = waiting_of(run);
    table.add_row({row_name(run), "rank " + std::to_string(waiting.slowest),
                   figure(waiting.its.compute_s), figure(waiting.its.exposed_s),
                   figure(waiting.others.compute_s), figure(waiting.others.exposed_s)});
  });
  page.section(
      "Who waits for whom, " + std::string(unit.name) + " of a step", table,
      "The others' figures are means. What they wait beyond the rank that computes longest "
      "is waiting for it, or for links that it does not use. "
      "Strategies whose ranks wait alike are left out.");
}

// Links that are as busy as the first of them.
struct LinkGroup {
  const LinkUse* first = nullptr;
  std::size_t count = 0;
};

std::vector<LinkGroup> busiest(const RunResult& run, std::size_t most) {
  std::vector<LinkGroup> groups;
  for (const LinkUse& link : run.links()) {
    const bool is_alike = !groups.empty() && std::abs(groups.back().first->busy_s() -
                                                      link.busy_s()) <= 1e-9 * link.busy_s();
    if (is_alike) {
      ++groups.back().count;
    } else if (groups.size() == most) {
      break;
    } else {
      groups.push_back({&link, 1});
    }
  }
  return groups;
}

void write_links(const ComparedRuns& compared, Page& page) {
  constexpr std::size_t kMostGroups = 3;
  Table table;
  table.add_column("", Align::left);
  table.add_column("link", Align::left);
  table.add_column("bandwidth", Align::right);
  table.add_column("bytes of\na step", Align::right);
  table.add_column("busy", Align::right);
  for_completed(compared, [&](const RunResult& run, const RunSummary&) {
    std::string strategy = row_name(run);
    for (const LinkGroup& group : busiest(run, kMostGroups)) {
      const LinkUse& link = *group.first;
      const double bytes = static_cast<double>(link.training_bytes() + link.background_bytes());
      table.add_row({strategy,
                     printable(link.name()) +
                         (group.count == 1 ? "" : " + " + std::to_string(group.count - 1)),
                     format_bits_per_s(link.bandwidth_bytes_per_s()),
                     format_bytes(bytes / run.steps_size()),
                     format_percent(link.busy_s() / run.limits().wall_s())});
      strategy.clear();
    }
  });
  page.section("Busiest links", table,
               "Busy: the share of the time that their bytes take at full bandwidth, those of "
               "background traffic too. + n: so many more are as busy.");
}

}  // namespace

void write_cluster(const ComparedRuns& compared, Page& page) {
  if (is_plain(compared.scenario.cluster)) {
    return;
  }
  write_ranks(compared, page);
  write_links(compared, page);
}

}  // namespace shardscope
