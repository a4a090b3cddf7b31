#include "sim/explain/marks.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "core/check.h"

namespace shardscope {

Marks collective_marks(const std::vector<StepLog>& logs, std::size_t index) {
  Marks marks;
  for (const StepLog& log : logs) {
    std::size_t seen = 0;
    const auto found = std::find_if(
        log.moments.begin(), log.moments.end(),
        [&](const Moment& moment) { return moment.collective.has_value() && seen++ == index; });
    SHARDSCOPE_CHECK(found != log.moments.end(), "ranks differ in their collectives");
    marks.push_back(&*found);
  }
  return marks;
}

Marks kernel_marks(const std::vector<StepLog>& logs, const std::string& kernel) {
  Marks marks;
  for (const StepLog& log : logs) {
    const auto found = std::find_if(log.moments.begin(), log.moments.end(),
                                    [&](const Moment& moment) { return moment.kernel == kernel; });
    SHARDSCOPE_CHECK(found != log.moments.end(), "a rank has no such kernel");
    marks.push_back(&*found);
  }
  return marks;
}

Marks update_marks(const std::vector<StepLog>& logs) {
  Marks marks;
  for (const StepLog& log : logs) {
    const auto adam = std::find_if(log.moments.begin(), log.moments.end(),
                                   [](const Moment& moment) { return moment.kernel == "adam"; });
    // The step begins where the optimizer of the one before it ended.
    const auto backward =
        std::find_if(log.moments.rbegin(), log.moments.rend(),
                     [](const Moment& moment) { return moment.position.phase == Phase::backward; });
    marks.push_back(adam != log.moments.end() ? &*adam : &*std::prev(backward));
  }
  return marks;
}

Marks updated_marks(const std::vector<StepLog>& logs) {
  Marks marks;
  for (const StepLog& log : logs) {
    const auto adam = std::find_if(log.moments.rbegin(), log.moments.rend(),
                                   [](const Moment& moment) { return moment.kernel == "adam"; });
    marks.push_back(adam != log.moments.rend() ? &*std::prev(adam) : &log.moments.back());
  }
  return marks;
}

Marks fullest_marks(const std::vector<StepLog>& logs) {
  Marks marks;
  for (const StepLog& log : logs) {
    const Moment* fullest = &log.moments.front();
    for (const Moment& moment : log.moments) {
      if (moment.collective.has_value()) {
        break;
      }
      fullest = held_bytes(moment) > held_bytes(*fullest) ? &moment : fullest;
    }
    marks.push_back(fullest);
  }
  return marks;
}

Marks first_marks(const std::vector<StepLog>& logs) {
  Marks marks;
  for (const StepLog& log : logs) {
    marks.push_back(&log.moments.front());
  }
  return marks;
}

Marks last_marks(const std::vector<StepLog>& logs) {
  Marks marks;
  for (const StepLog& log : logs) {
    marks.push_back(&log.moments.back());
  }
  return marks;
}

std::uint64_t held_bytes(const Moment& moment) {
  return std::accumulate(moment.held.begin(), moment.held.end(), std::uint64_t{0});
}

std::uint64_t state_bytes(const Moment& moment) {
  return std::accumulate(moment.held.begin(), moment.held.begin() + kStateCategoryCount,
                         std::uint64_t{0});
}

}  // namespace shardscope
