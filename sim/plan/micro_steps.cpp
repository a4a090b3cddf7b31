#include "sim/plan/micro_steps.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace shardscope {
namespace {

constexpr std::size_t kLeast = 24;  // Fewer are simulated: three steps of few would take as long.
constexpr std::size_t kFirst = 4;   // Of the few, if the wanted number is even.
constexpr std::size_t kMore = 2;    // They may alternate.
constexpr double kSame = 1e-10;     // Of the step.

bool changes_with_time(const Cluster& cluster) {
  return cluster.platform.has_value() || !cluster.background.empty() ||
         !cluster.link_changes.empty() || !cluster.rank_speeds.empty();
}

// A figure that grows by the same with every kMore micro-steps.
template <typename Value>
Value extended(Value second, Value third, std::size_t times) {
  return third + static_cast<Value>(times) * (third - second);
}

class Repetition {
 public:
  Repetition(const std::array<PlanFigures, 3>& few, std::size_t times)
      : few_(few), times_(times), result_(few[2]) {}

  std::optional<PlanFigures> result() {
    const bool is_done = std::all_of(few_.begin(), few_.end(), [](const PlanFigures& figures) {
      return figures.outcome() == "completed";
    });
    if (!is_done) {
      return std::nullopt;
    }
    TimeSplit& time = *result_.mutable_time();
    const bool is_regular =
        is_constant(&PlanFigures::peak_bytes) && is_constant(&PlanFigures::host_bytes) &&
        bytes(&PlanFigures::sent_bytes, &PlanFigures::set_sent_bytes) &&
        bytes(&PlanFigures::sent_between_nodes_bytes, &PlanFigures::set_sent_between_nodes_bytes) &&
        seconds(&TimeSplit::wall_s, &TimeSplit::set_wall_s, time) &&
        seconds(&TimeSplit::forward_s, &TimeSplit::set_forward_s, time) &&
        seconds(&TimeSplit::backward_s, &TimeSplit::set_backward_s, time) &&
        seconds(&TimeSplit::optimizer_s, &TimeSplit::set_optimizer_s, time) &&
        seconds(&TimeSplit::exposed_communication_s, &TimeSplit::set_exposed_communication_s,
                time) &&
        seconds(&TimeSplit::busy_communication_s, &TimeSplit::set_busy_communication_s, time) &&
        seconds(&TimeSplit::exposed_forward_s, &TimeSplit::set_exposed_forward_s, time) &&
        seconds(&TimeSplit::exposed_backward_s, &TimeSplit::set_exposed_backward_s, time) &&
        seconds(&TimeSplit::exposed_optimizer_s, &TimeSplit::set_exposed_optimizer_s, time);
    return is_regular ? std::optional(result_) : std::nullopt;
  }

 private:
  template <typename Get>
  bool is_constant(Get get) const {
    return (few_[0].*get)() == (few_[1].*get)() && (few_[1].*get)() == (few_[2].*get)();
  }

  template <typename Get, typename Set>
  bool bytes(Get get, Set set) {
    const auto value = [&](std::size_t i) { return static_cast<std::int64_t>((few_[i].*get)()); };
    (result_.*set)(static_cast<std::uint64_t>(extended(value(1), value(2), times_)));
    return value(2) - value(1) == value(1) - value(0);
  }

  template <typename Get, typename Set>
  bool seconds(Get get, Set set, TimeSplit& time) {
    const auto value = [&](std::size_t i) { return (few_[i].time().*get)(); };
    (time.*set)(extended(value(1), value(2), times_));
    const double change = (value(2) - value(1)) - (value(1) - value(0));
    return std::abs(change) <= kSame * few_[2].time().wall_s();
  }

  const std::array<PlanFigures, 3>& few_;
  std::size_t times_;
  PlanFigures result_;
};

}  // namespace

std::optional<FewMicroSteps> few_micro_steps(const Scenario& scenario) {
  const std::size_t wanted = scenario.training.micro_batches;
  if (wanted < kLeast || changes_with_time(scenario.cluster)) {
    return std::nullopt;
  }
  const std::size_t first = kFirst + wanted % kMore;
  return FewMicroSteps{first, first + kMore, first + 2 * kMore};
}

std::optional<PlanFigures> repeated(const std::array<PlanFigures, 3>& few,
                                    const FewMicroSteps& counts, std::size_t wanted) {
  return Repetition(few, (wanted - counts[2]) / kMore).result();
}

}  // namespace shardscope
