// Ranks that are slower than others: who waits for whom.
#include <gtest/gtest.h>

#include "sim/result/result.pb.h"
#include "tests/sim/simulated.h"

namespace shardscope::testing {
namespace {

double compute_s(const RankStep& step) {
  return step.time().forward_s() + step.time().backward_s() + step.time().optimizer_s();
}

// DDP meets once in a step. The straggler's kernels take twice as long and its all_reduce as long
// as ever; the others wait until it comes.
TEST(Straggler, SlowsDdpToItsOwnStepAndTheOthersWaitForIt) {
  TrainingOptions training;
  training.steps = 3;
  training.global_batch = 64;
  training.storage = Storage::shape_only;
  Scenario scenario = make_scenario(ModelSpec{{128, 512, 512, 128}}, training, 8);
  const Strategy ddp = *find_strategy("DDP");
  const RunResult even = run_simulation(scenario, ddp);
  scenario.cluster.rank_speeds.resize(8);
  scenario.cluster.rank_speeds[3].speed = 0.5;
  const RunResult uneven = run_simulation(scenario, ddp);
  constexpr int kStep = 2;  // Later than the first, so that all have waited already.
  const RankStep& before = even.ranks(0).steps(kStep);
  const RankStep& straggler = uneven.ranks(3).steps(kStep);
  const double alone_s = compute_s(before);
  EXPECT_NEAR(compute_s(straggler), 2 * alone_s, 1e-9 * alone_s);
  EXPECT_NEAR(straggler.time().wall_s(), before.time().wall_s() + alone_s, 1e-9 * alone_s);
  EXPECT_NEAR(straggler.time().exposed_communication_s(), before.time().exposed_communication_s(),
              1e-9 * alone_s);
  for (const RankResult& rank : uneven.ranks()) {
    if (rank.rank() == 3) {
      continue;
    }
    const RankStep& other = rank.steps(kStep);
    EXPECT_NEAR(compute_s(other), alone_s, 1e-9 * alone_s) << rank.rank();
    EXPECT_NEAR(other.time().wall_s(), straggler.time().wall_s(), 1e-9 * alone_s) << rank.rank();
    EXPECT_NEAR(other.time().exposed_communication_s(),
                before.time().exposed_communication_s() + alone_s, 1e-9 * alone_s)
        << rank.rank();
  }
}

// Kernels that are under way when the speed changes take longer from then on.
TEST(Straggler, CanBecomeOneOnTheWay) {
  TrainingOptions training;
  training.steps = 1;
  training.global_batch = 8;
  training.storage = Storage::shape_only;
  Scenario scenario = make_scenario(ModelSpec{{128, 512}}, training, 1);
  const Strategy ddp = *find_strategy("DDP");
  const double even_s = compute_s(run_simulation(scenario, ddp).ranks(0).steps(0));
  scenario.cluster.rank_speeds = {
      {.speed = 1, .changes = {{even_s / 2, 0.25}}, .has_profile = false}};
  const double uneven_s = compute_s(run_simulation(scenario, ddp).ranks(0).steps(0));
  EXPECT_NEAR(uneven_s, even_s / 2 + 4 * even_s / 2, 1e-9 * even_s);
}

}  // namespace
}  // namespace shardscope::testing
