#include "sim/critical_path/critical_path.h"

#include <algorithm>
#include <boost/graph/dag_shortest_paths.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <functional>
#include <limits>
#include <map>

#include "sim/critical_path/step_graph.h"
#include "sim/result/result.pb.h"

namespace shardscope {
namespace {

using Graph = StepGraph::Graph;
using Vertex = StepGraph::Vertex;
using Duration = std::function<double(const Activity&)>;
using Kind = Activity::Kind;

constexpr double kNever = -std::numeric_limits<double>::infinity();

// The latest time at which each vertex is reached, and from where.
struct LongestPaths {
  std::vector<double> times_s;
  std::vector<Vertex> from;
};

LongestPaths longest_paths(const StepGraph& step, const Duration& duration) {
  const Graph& graph = step.graph;
  LongestPaths paths{std::vector<double>(num_vertices(graph)),
                     std::vector<Vertex>(num_vertices(graph))};
  const auto weights = boost::make_function_property_map<Graph::edge_descriptor>(
      [&](const Graph::edge_descriptor& edge) { return duration(graph[edge]); });
  boost::dag_shortest_paths(graph, step.begin,
                            boost::weight_map(weights)
                                .distance_map(boost::make_iterator_property_map(
                                    paths.times_s.begin(), get(boost::vertex_index, graph)))
                                .predecessor_map(boost::make_iterator_property_map(
                                    paths.from.begin(), get(boost::vertex_index, graph)))
                                .distance_compare(std::greater<>())
                                .distance_combine(std::plus<>())
                                .distance_inf(kNever)
                                .distance_zero(0.0));
  return paths;
}

// The wall-clock time of step t of the rank that finishes it last, the lowest one on a tie, were
// all steps like this one. Ranks begin a step when they end the one before, so the steps are timed
// one after another until their ranks no longer move against each other.
double wall_of_step_s(const StepGraph& step, std::int64_t t, const Duration& duration) {
  constexpr std::int64_t kMostSteps = 100;
  std::vector<double> begins_s(step.ends.size(), 0.0);
  for (std::int64_t i = 1;; ++i) {
    const LongestPaths paths = longest_paths(step, [&](const Activity& activity) {
      return activity.kind == Kind::offset ? begins_s[static_cast<std::size_t>(activity.from)]
                                           : duration(activity);
    });
    std::vector<double> ends_s;
    for (const Vertex end : step.ends) {
      ends_s.push_back(paths.times_s[end]);
    }
    const auto last = std::max_element(ends_s.begin(), ends_s.end());
    const double wall_s = *last - begins_s[static_cast<std::size_t>(last - ends_s.begin())];
    const double first_s = *std::min_element(ends_s.begin(), ends_s.end());
    for (double& end_s : ends_s) {
      end_s -= first_s;
    }
    if (i == t || i == kMostSteps || ends_s == begins_s) {
      return wall_s;
    }
    begins_s = std::move(ends_s);
  }
}

// The activities on the way to `end`, the last one first.
std::vector<const Activity*> activities(const StepGraph& step, const LongestPaths& paths,
                                        Vertex end) {
  std::vector<const Activity*> found;
  for (Vertex to = end; to != step.begin; to = paths.from[to]) {
    found.push_back(&step.graph[edge(paths.from[to], to, step.graph).first]);
  }
  return found;
}

// Sums by name; what is zero is left out.
class Shares {
 public:
  void add(const std::string& name, double seconds) { sums_[name] += seconds; }

  std::vector<PathShare> largest_first() const {
    std::vector<PathShare> shares;
    for (const auto& [name, seconds] : sums_) {
      if (seconds != 0) {
        shares.push_back({name, seconds});
      }
    }
    std::stable_sort(shares.begin(), shares.end(),
                     [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
    return shares;
  }

 private:
  std::map<std::string, double> sums_;
};

std::string phase_of(const Activity& activity) {
  switch (activity.kind) {
    case Kind::kernel:
      return activity.phase;
    case Kind::transfer:
      return "transfer";
    case Kind::latency:
      return "latency";
    case Kind::offset:
    case Kind::order:
      break;
  }
  return "offset";
}

bool is_message(const Activity& activity) {
  return activity.kind == Kind::transfer || activity.kind == Kind::latency;
}

void add_shares(const std::vector<const Activity*>& path, CriticalPath& result) {
  Shares phases;
  Shares layers;
  Shares links;
  for (const Activity* activity : path) {
    phases.add(phase_of(*activity), activity->seconds);
    layers.add(activity->layers, activity->seconds);
    links.add(is_message(*activity)
                  ? std::to_string(activity->from) + "->" + std::to_string(activity->to)
                  : std::string(),
              activity->seconds);
  }
  result.phases = phases.largest_first();
  result.layers = layers.largest_first();
  result.links = links.largest_first();
}

void add_what_ifs(const StepGraph& step, CriticalPath& result) {
  const auto add = [&](const char* name, const Duration& duration) {
    result.what_ifs.push_back({name, wall_of_step_s(step, result.step, duration)});
  };
  add("communication_free",
      [](const Activity& activity) { return is_message(activity) ? 0.0 : activity.seconds; });
  add("bandwidth_doubled", [](const Activity& activity) {
    return activity.kind == Kind::transfer ? activity.seconds / 2 : activity.seconds;
  });
  add("latency_zero", [](const Activity& activity) {
    return activity.kind == Kind::latency ? 0.0 : activity.seconds;
  });
  add("device_doubled", [](const Activity& activity) {
    return activity.kind == Kind::kernel
               ? activity.launch_s + (activity.seconds - activity.launch_s) / 2
               : activity.seconds;
  });
}

// The recordings of the last step there is, by rank; none if transfers were cut.
std::vector<const RankRecording*> last_step(const RunResult& run) {
  std::vector<const RankRecording*> ranks;
  const int first = run.recordings_size() - run.world_size();
  for (int i = std::max(first, 0); i < run.recordings_size(); ++i) {
    ranks.push_back(&run.recordings(i));
    for (const RecordedCollective& collective : ranks.back()->communication()) {
      if (collective.transfers_cut()) {
        return {};
      }
    }
  }
  return ranks;
}

}  // namespace

std::optional<CriticalPath> critical_path(const RunResult& run) {
  const std::vector<const RankRecording*> ranks = last_step(run);
  if (ranks.empty()) {
    return std::nullopt;
  }
  const StepGraph step = make_step_graph(ranks);
  const LongestPaths paths =
      longest_paths(step, [](const Activity& activity) { return activity.seconds; });
  CriticalPath result;
  result.step = ranks.front()->step();
  result.rank = static_cast<int>(step.last);
  result.length_s = paths.times_s[step.ends[step.last]];
  add_shares(activities(step, paths, step.ends[step.last]), result);
  add_what_ifs(step, result);
  return result;
}

}  // namespace shardscope
