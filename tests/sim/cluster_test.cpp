// The simulated cluster against closed forms, conservation laws and the same training without a
// simulator.
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "core/collectives/schedule.h"
#include "core/data/synthetic.h"
#include "core/device/local_cluster.h"
#include "core/training/trainer.h"
#include "sim/cluster/roofline.h"
#include "sim/cluster/simulation.h"
#include "sim/process/child.h"
#include "tests/core/support/small_strategies.h"
#include "tests/core/support/training_run.h"
#include "tests/sim/sanitized.h"
#include "tests/sim/simulated.h"
#include "tests/sim/star.h"

namespace shardscope::testing {
namespace {

const Strategy& strategy(const char* name) { return *find_strategy(name); }

double relative_error(double value, double expected) {
  return std::abs(value - expected) / std::abs(expected);
}

// Quickstart's model with a batch that many world sizes divide.
Scenario quickstart(int world_size, Storage storage) {
  TrainingOptions training;
  training.steps = 2;
  training.global_batch = 192;
  training.precision = DType::bf16;
  training.reduce_precision = DType::bf16;
  training.storage = storage;
  return make_scenario(ModelSpec{{128, 512, 512, 128}}, training, world_size);
}

// ---- Closed forms ----

const std::vector<int> kWorldSizes =
    kSanitized ? std::vector<int>{2, 3, 4, 8} : std::vector<int>{2, 3, 4, 8, 16, 64};

// Busy communication of a step. Where N divides all chunks a ring's round takes L + chunk / B; of
// these all_reduce has 2(N-1), reduce_scatter and all_gather N-1.
class RingTime {
 public:
  explicit RingTime(const Scenario& scenario) : scenario_(scenario) {}

  double half(std::size_t elements) const {
    const double ranks = scenario_.world_size;
    const double bytes = 2.0 * static_cast<double>(elements) / ranks;
    return (ranks - 1) *
           (2 * link_of(scenario_).latency_s + bytes / link_of(scenario_).bandwidth_bytes_per_s);
  }

  double whole_model() const { return half(scenario_.model.parameters()); }
  double layer_by_layer() const {
    double sum = 0;
    for (std::size_t l = 0; l < scenario_.model.layer_count(); ++l) {
      sum += half(scenario_.model.layer(l).elements());
    }
    return sum;
  }

  double of(const Strategy& strategy) const {
    if (strategy.name == "NAIVE_ZERO") {
      return 3 * whole_model();
    }
    if (strategy.name == "ZERO2") {
      return layer_by_layer() + whole_model();
    }
    return strategy.name == "ZERO3" ? 3 * layer_by_layer() : 2 * whole_model();
  }

 private:
  const Scenario& scenario_;
};

TEST(RingTimes, AreTheClosedFormsWhereRanksDivideEveryLayer) {
  double worst = 0;
  for (const int world : kWorldSizes) {
    for (const Storage storage : {Storage::shape_only, Storage::real}) {
      if (storage == Storage::real && world > 4) {
        continue;  // Long, and of no other time.
      }
      const Scenario scenario = quickstart(world, storage);
      for (const Strategy& strategy : paper_strategies()) {
        SCOPED_TRACE(std::string(strategy.name) + ", world " + std::to_string(world));
        const RunResult run = run_simulation(scenario, strategy);
        for (const RankResult& rank : run.ranks()) {
          for (const RankStep& step : rank.steps()) {
            const double busy_s = step.time().busy_communication_s();
            const double error = relative_error(busy_s, RingTime(scenario).of(strategy));
            EXPECT_LE(error, 1e-9);
            worst = std::max(worst, error);
          }
        }
      }
    }
  }
  std::printf("furthest from the closed form: %.1e relative\n", worst);
}

TEST(RingTimes, OfShardsArePaddedSoThatTheClosedFormHoldsForThePadding) {
  for (const int world : {3, 7, 9, 20}) {
    TrainingOptions training;
    training.steps = 1;
    training.global_batch = static_cast<std::size_t>(world);
    training.storage = Storage::shape_only;
    const Scenario scenario = make_scenario(ModelSpec{{3, 7, 5}}, training, world);
    const auto shard = [&](std::size_t elements) { return Chunking::even(elements, world).chunk; };
    const double path_latency_s = 2 * link_of(scenario).latency_s;
    const auto half = [&](std::size_t chunk) {
      return (world - 1) * (path_latency_s + 4.0 * static_cast<double>(chunk) /
                                                 link_of(scenario).bandwidth_bytes_per_s);
    };
    const double whole = half(shard(28 + 40));
    const double layers = half(shard(28)) + half(shard(40));
    const auto busy_s = [&](const char* name) {
      return run_simulation(scenario, strategy(name)).steps(0).time().busy_communication_s();
    };
    EXPECT_LE(relative_error(busy_s("ZERO1"), 2 * whole), 1e-9) << world;
    EXPECT_LE(relative_error(busy_s("ZERO2"), layers + half(shard(28) + shard(40))), 1e-9) << world;
    EXPECT_LE(relative_error(busy_s("ZERO3"), 3 * layers), 1e-9) << world;
  }
}

// When each rank ends a collective that all begin at 0: round after round, a message leaves when
// both sides are there, and on a star of ring neighbours no two of them share a link.
std::vector<double> end_times(const Schedule& schedule, const CableSpec& link,
                              double element_bytes) {
  const int n = schedule.world_size();
  std::vector<double> ready(static_cast<std::size_t>(n));
  const auto at = [&](int rank) { return ready[static_cast<std::size_t>(rank)]; };
  for (int i = 0; i < schedule.rounds(); ++i) {
    std::vector<double> next = ready;
    for (int rank = 0; rank < n; ++rank) {
      const Round round = schedule.round(rank, i);
      double& end = next[static_cast<std::size_t>(rank)];
      const auto take = [&](const Transfer& transfer, double latency_s) {
        const double bytes = element_bytes * static_cast<double>(round.elements(transfer));
        end = std::max(end, std::max(at(rank), at(transfer.peer)) +
                                bytes / link.bandwidth_bytes_per_s + latency_s);
      };
      for (const Transfer& receive : round.receives()) {
        take(receive, 2 * link.latency_s);
      }
      for (const Transfer& send : round.sends()) {
        take(send, 0);
      }
    }
    ready = next;
  }
  return ready;
}

TEST(RingTimes, OfChunksThatDifferFollowTheirSchedule) {
  for (const std::size_t width : {1U, 4U, 25U, 1000U}) {
    for (const int world : {2, 3, 5, 8, 13}) {
      TrainingOptions training;
      training.steps = 1;
      training.global_batch = static_cast<std::size_t>(world);
      training.storage = Storage::shape_only;
      Scenario scenario = make_scenario(ModelSpec{{1, width}}, training, world);
      link_of(scenario).bandwidth_bytes_per_s = 1e6;
      const auto schedule =
          make_schedule(Operation::all_reduce, std::make_shared<const CollectivePlan>(), world,
                        Chunking::even(scenario.model.parameters(), world));
      const std::vector<double> expected = end_times(*schedule, link_of(scenario), 4);
      const RunResult run = run_simulation(scenario, strategy("DDP"));
      for (int rank = 0; rank < world; ++rank) {
        EXPECT_LE(std::abs(run.ranks(rank).steps(0).time().busy_communication_s() -
                           expected[static_cast<std::size_t>(rank)]),
                  1e-9 * *std::max_element(expected.begin(), expected.end()))
            << "rank " << rank << " of " << world << ", " << 2 * width << " parameters";
      }
    }
  }
}

TEST(Wire, IsHalfAsMuchAgainForNaiveZeroAndZero3) {
  for (const int world : kWorldSizes) {
    const Scenario scenario = quickstart(world, Storage::shape_only);
    const auto first_step = [&](const char* name) {
      return run_simulation(scenario, strategy(name)).ranks(0).steps(0);
    };
    const RankStep zero1 = first_step("ZERO1");
    EXPECT_EQ(2 * first_step("ZERO3").sent_bytes(), 3 * zero1.sent_bytes()) << world;
    EXPECT_EQ(2 * first_step("NAIVE_ZERO").sent_bytes(), 3 * zero1.sent_bytes()) << world;
    EXPECT_LE(relative_error(first_step("NAIVE_ZERO").time().busy_communication_s(),
                             1.5 * zero1.time().busy_communication_s()),
              1e-9)
        << world;
  }
}

TEST(Wire, OfOneRankIsSilent) {
  for (const Strategy& strategy : all_strategies()) {
    const RunResult run = run_simulation(quickstart(1, Storage::shape_only), strategy);
    for (const RankStep& step : run.ranks(0).steps()) {
      EXPECT_EQ(step.sent_bytes(), 0U) << strategy.name;
      EXPECT_EQ(step.received_bytes(), 0U) << strategy.name;
      EXPECT_EQ(step.time().busy_communication_s(), 0) << strategy.name;
      EXPECT_EQ(step.time().exposed_communication_s(), 0) << strategy.name;
    }
  }
}

// ---- Compute ----

TEST(Roofline, IsTheSlowerOfArithmeticAndMemoryAndTheLaunch) {
  const DeviceSpec device = {.preset = "",
                             .memory_bytes = 1,
                             .peak_flops_per_s = 100,
                             .memory_bandwidth_bytes_per_s = 10,
                             .compute_efficiency = 0.5,
                             .memory_efficiency = 0.25,
                             .launch_overhead_s = 3};
  EXPECT_EQ(kernel_time(device, {.flops = 100, .bytes = 1}).total_s(), 2 + 3);
  EXPECT_EQ(kernel_time(device, {.flops = 100, .bytes = 10}).total_s(), 4 + 3);
  EXPECT_TRUE(kernel_time(device, {.flops = 100, .bytes = 10}).is_memory_bound());
  EXPECT_FALSE(kernel_time(device, {.flops = 100, .bytes = 5}).is_memory_bound());
}

// A step of one layer from 3 to 5 on one rank with 2 rows in fp32, counted by hand.
TEST(Roofline, TimesTheKernelsOfAStep) {
  TrainingOptions training;
  training.steps = 3;
  training.global_batch = 2;
  Scenario scenario = make_scenario(ModelSpec{{3, 5}}, training, 1);
  const auto expect_times = [&](double forward_s, double backward_s, double optimizer_s) {
    const RunResult run = run_simulation(scenario, strategy("DDP"));
    for (const RankStep& step : run.ranks(0).steps()) {
      EXPECT_LE(relative_error(step.time().forward_s(), forward_s), 1e-12);
      EXPECT_LE(relative_error(step.time().backward_s(), backward_s), 1e-12);
      EXPECT_LE(relative_error(step.time().optimizer_s(), optimizer_s), 1e-12);
    }
  };
  scenario.device.launch_overhead_s = 1000;
  scenario.device.peak_flops_per_s = 1;
  scenario.device.memory_bandwidth_bytes_per_s = 1e12;
  const double product = 2 * 2 * 3 * 5;
  expect_times(product + 10 + 50 + 2000,       // y = x W^T + b; loss
               50 + product + 10 + 20 + 3000,  // its gradient; dW and db; the average over ranks
               14 * 20 + 1000);                // Adam
  scenario.device.peak_flops_per_s = 1e12;
  scenario.device.memory_bandwidth_bytes_per_s = 1;
  expect_times(4 * (6 + 20 + 10) + 4 * (10 + 10) + 2000,
               4 * (10 + 10 + 10) + 4 * (6 + 10 + 20) + 4 * (20 + 20) + 3000, 4 * 7 * 20 + 1000);
}

// ---- What holds for every run ----

void check_time(const TimeSplit& time) {
  const double exposed_s = time.exposed_communication_s();
  const double allowed = 1e-9 * time.wall_s();
  EXPECT_GT(time.wall_s(), 0);
  EXPECT_NEAR(time.forward_s() + time.backward_s() + time.optimizer_s() + exposed_s, time.wall_s(),
              allowed);
  EXPECT_NEAR(time.exposed_forward_s() + time.exposed_backward_s() + time.exposed_optimizer_s(),
              exposed_s, allowed);
  EXPECT_GE(time.busy_communication_s(), exposed_s - allowed) << "overlap is never negative";
}

void check_wire(const RunResult& run) {
  for (int i = 0; i < run.steps_size(); ++i) {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (const RankResult& rank : run.ranks()) {
      EXPECT_EQ(rank.steps(i).sent_bytes(), rank.steps(i).predicted_sent_bytes())
          << "rank " << rank.rank() << ", step " << i + 1;
      sent += rank.steps(i).sent_bytes();
      received += rank.steps(i).received_bytes();
    }
    EXPECT_EQ(sent, received) << "step " << i + 1;
  }
}

void check_memory(const RankResult& rank) {
  ASSERT_EQ(rank.peak().bytes_size(), static_cast<int>(kCategoryCount));
  std::uint64_t sum_of_peaks = 0;
  for (int i = 0; i < rank.peak().bytes_size(); ++i) {
    sum_of_peaks += rank.peak().bytes(i);
    if (i < static_cast<int>(kStateCategoryCount)) {
      EXPECT_EQ(rank.state().bytes(i), rank.predicted_state().bytes(i)) << "category " << i;
      // An update may work on fp32 copies of gradients beside them.
      EXPECT_GE(rank.peak().bytes(i), rank.predicted_state().bytes(i)) << "category " << i;
    }
  }
  EXPECT_EQ(rank.state().total(), rank.predicted_state().total());
  EXPECT_EQ(rank.peak().total(), rank.predicted_peak_bytes());
  EXPECT_LE(rank.peak().total(), sum_of_peaks);
  EXPECT_GT(rank.peak().total(), rank.state().total());
}

// The rank whose time is a step's ends it last.
void check_last_ranks(const RunResult& run) {
  std::vector<double> ends(static_cast<std::size_t>(run.world_size()));
  for (int i = 0; i < run.steps_size(); ++i) {
    for (const RankResult& rank : run.ranks()) {
      ends[static_cast<std::size_t>(rank.rank())] += rank.steps(i).time().wall_s();
    }
    const double last_s = *std::max_element(ends.begin(), ends.end());
    const int last = run.steps(i).last_rank();
    EXPECT_GE(ends[static_cast<std::size_t>(last)], last_s * (1 - 1e-12)) << "step " << i + 1;
    EXPECT_EQ(run.steps(i).time().SerializeAsString(),
              run.ranks(last).steps(i).time().SerializeAsString());
  }
}

void check_run(const RunResult& run, const Scenario& scenario) {
  EXPECT_EQ(run.outcome(), "completed");
  EXPECT_EQ(run.parameters(), scenario.model.parameters());
  ASSERT_EQ(run.ranks_size(), scenario.world_size);
  ASSERT_EQ(run.steps_size(), static_cast<int>(scenario.training.steps));
  for (const RankResult& rank : run.ranks()) {
    for (const RankStep& step : rank.steps()) {
      check_time(step.time());
    }
    check_memory(rank);
  }
  check_wire(run);
  check_last_ranks(run);
}

// Without what shape-only runs do not have.
RunResult without_numbers(RunResult run) {
  run.clear_weights_digest();
  for (StepResult& step : *run.mutable_steps()) {
    step.clear_loss();
    step.clear_grad_norm();
  }
  return run;
}

void expect_same(const RunResult& run, const RunResult& expected, const char* what) {
  google::protobuf::util::MessageDifferencer differencer;
  std::string differences;
  differencer.ReportDifferencesToString(&differences);
  EXPECT_TRUE(differencer.Compare(expected, run)) << what << ": " << differences;
}

TEST(EveryRun, KeepsItsAccountsWhateverTheScenario) {
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 15 : 40); ++seed) {
    const RandomScenario random(seed);
    for (const Strategy& strategy : all_strategies()) {
      SCOPED_TRACE(std::string(strategy.name) + ", " + random.text);
      const RunResult real = run_simulation(random.scenario, strategy);
      check_run(real, random.scenario);
      Scenario scenario = random.scenario;
      scenario.training.storage = Storage::shape_only;
      const RunResult shape_only = run_simulation(scenario, strategy);
      EXPECT_FALSE(shape_only.has_weights_digest());
      expect_same(shape_only, without_numbers(real), "shape-only");
    }
  }
}

TEST(EveryRun, IsTheSameAgainAndOnTwoThreads) {
  for (std::uint64_t seed = 101; seed <= (kSanitized ? 105 : 112); ++seed) {
    const RandomScenario random(seed);
    for (const Strategy& strategy : all_strategies()) {
      SCOPED_TRACE(std::string(strategy.name) + ", " + random.text);
      const RunResult run = run_simulation(random.scenario, strategy);
      expect_same(run_simulation(random.scenario, strategy), run, "again");
      expect_same(run_simulation(random.scenario, strategy, 2), run, "two threads");
    }
  }
}

std::vector<float> final_weights(const Scenario& scenario, const Strategy& strategy) {
  const SyntheticWeights weights(scenario.model, scenario.seed);
  const SyntheticBatches batches(scenario.model, scenario.seed, scenario.training.global_batch);
  const ChildResult child = run_in_child([&] {
    std::string bytes;
    SimulationOptions options;
    options.on_weights = [&](Tensor piece) {
      bytes.append(reinterpret_cast<const char*>(piece.data), piece.bytes());
    };
    simulate(scenario, strategy, weights, &batches, options);
    return bytes;
  });
  EXPECT_TRUE(child.ok) << child.failure;
  std::vector<float> values(child.output.size() / sizeof(float));
  std::memcpy(values.data(), child.output.data(), child.output.size());
  return values;
}

TEST(EveryRun, TrainsAsWithoutASimulator) {
  for (std::uint64_t seed = 201; seed <= (kSanitized ? 210 : 230); ++seed) {
    const RandomScenario random(seed);
    const Scenario& scenario = random.scenario;
    const SyntheticWeights weights(scenario.model, scenario.seed);
    const SyntheticBatches batches(scenario.model, scenario.seed, scenario.training.global_batch);
    for (const Strategy& strategy : all_strategies()) {
      SCOPED_TRACE(std::string(strategy.name) + ", " + random.text);
      const TrainingRun expected =
          train(strategy, scenario.model, scenario.training, scenario.world_size, weights, batches);
      TrainingRun simulated;
      simulated.weights = final_weights(scenario, strategy);
      expect_same_weights(simulated, expected);
      const RunResult run = run_simulation(scenario, strategy);
      for (int i = 0; i < run.steps_size(); ++i) {
        const auto step = static_cast<std::size_t>(i);
        EXPECT_DOUBLE_EQ(run.steps(i).loss(), expected.losses[step]);
        EXPECT_DOUBLE_EQ(run.steps(i).grad_norm(), expected.gradient_norms[step]);
      }
    }
  }
}

// ---- Out of memory ----

// Where the same training without a simulator runs out of memory if `rank` alone can.
std::optional<OutOfMemoryResult> fault_on_local_cluster(const Scenario& scenario,
                                                        const Strategy& strategy, int rank) {
  const SyntheticWeights weights(scenario.model, scenario.seed);
  const SyntheticBatches batches(scenario.model, scenario.seed, scenario.training.global_batch);
  std::optional<OutOfMemoryResult> found;
  const auto train_rank = [&](LocalRank local) {
    ProcessGroup group(local.device, local.transport.rank(), scenario.world_size,
                       scenario.training.storage);
    Trainer trainer(strategy, scenario.model, scenario.training, group, &batches);
    try {
      trainer.initialize(weights);
      for (std::size_t t = 1; t <= scenario.training.steps; ++t) {
        trainer.step();
      }
    } catch (const OutOfMemory& error) {
      const TrainingPosition& position = local.device.position();
      found.emplace();
      found->set_rank(local.transport.rank());
      found->set_step(position.step);
      found->set_phase(std::string(name(position.phase)));
      if (position.layer.has_value()) {
        found->set_layer("layers." + std::to_string(*position.layer));
      }
      found->set_category(std::string(name(error.category)));
      found->set_wanted_bytes(error.wanted_bytes);
      found->set_free_bytes(error.free_bytes);
      throw;
    }
  };
  std::vector<std::uint64_t> capacities(static_cast<std::size_t>(scenario.world_size),
                                        MemoryLedger::kUnlimited);
  capacities[static_cast<std::size_t>(rank)] = scenario.device.memory_bytes;
  try {
    run_local_cluster(scenario.world_size, train_rank, capacities);
  } catch (const OutOfMemory&) {
  }
  return found;
}

// Ranks that hold the same run out of memory at the same instant, and the lowest of them is named.
void check_fault(const RunResult& run, const Scenario& scenario, const Strategy& strategy) {
  const int rank = run.out_of_memory().rank();  // 0 of a run that completed.
  const std::optional<OutOfMemoryResult> expected =
      fault_on_local_cluster(scenario, strategy, rank);
  ASSERT_EQ(run.outcome(), expected.has_value() ? "out_of_memory" : "completed");
  if (expected.has_value()) {
    EXPECT_EQ(run.out_of_memory().ShortDebugString(), expected->ShortDebugString());
    EXPECT_EQ(run.steps_size(), 0);
  }
  if (strategy.partition != Partition::tensor_owner) {
    EXPECT_EQ(rank, 0);
  }
}

TEST(OutOfMemoryResults, NameTheAllocationThatDoesNotFit) {
  TrainingOptions training;
  training.steps = 2;
  training.global_batch = 3;
  training.precision = DType::bf16;
  training.reduce_precision = DType::fp32;
  for (const double latency_s : {0.0, 5e-6}) {
    Scenario scenario = make_scenario(ModelSpec{{2, 3, 1}}, training, 3);
    link_of(scenario).latency_s = latency_s;
    for (const Strategy& strategy : small_strategies()) {
      const RunResult unlimited = run_simulation(scenario, strategy);
      std::uint64_t peak = 0;
      for (const RankResult& rank : unlimited.ranks()) {
        peak = std::max<std::uint64_t>(peak, rank.peak().total());
      }
      for (std::uint64_t capacity = 1; capacity < peak; capacity += kSanitized ? 30 : 3) {
        SCOPED_TRACE(std::string(strategy.name) + ", capacity " + std::to_string(capacity) +
                     " of " + std::to_string(peak));
        Scenario small = scenario;
        small.device.memory_bytes = capacity;
        const RunResult run = run_simulation(small, strategy);
        EXPECT_EQ(run.outcome(), "out_of_memory");
        check_fault(run, small, strategy);
      }
      Scenario enough = scenario;
      enough.device.memory_bytes = peak;
      EXPECT_EQ(run_simulation(enough, strategy).outcome(), "completed");
    }
  }
}

// Also where only one of them owns the tensors that overflow.
TEST(Simulation, AllRanksSkipAStepTogether) {
  TrainingOptions training;
  training.steps = 1;
  training.global_batch = 16;
  training.precision = DType::fp16;
  training.reduce_precision = DType::fp16;
  int skipped = 0;
  for (int exponent = 8; exponent <= 24; ++exponent) {
    training.dynamic_loss_scale = DynamicLossScale{.initial = std::ldexp(1.0, exponent),
                                                   .growth_interval = std::nullopt,
                                                   .hysteresis = std::nullopt,
                                                   .minimum = std::nullopt};
    const Scenario scenario = make_scenario(ModelSpec{{16, 32, 8}}, training, 4);
    const bool expected = run_simulation(scenario, strategy("TORCH_DDP")).steps(0).skipped();
    skipped += expected ? 1 : 0;
    for (const char* name : {"ZERO_REDUNDANCY_OPTIMIZER", "ZERO3", "FSDP_HYBRID_SHARD"}) {
      EXPECT_EQ(run_simulation(scenario, strategy(name)).steps(0).skipped(), expected)
          << name << ", 2^" << exponent;
    }
  }
  EXPECT_GT(skipped, 0);
  EXPECT_LT(skipped, 17);
}

// DeepSpeed's hysteresis lets one overflow pass at the least scale and ends with the second.
TEST(Simulation, ARunThatItsRulesEndHasTheStepsBefore) {
  TrainingOptions training;
  training.steps = 4;
  training.global_batch = 4;
  training.precision = DType::fp16;
  training.reduce_precision = DType::fp16;
  training.dynamic_loss_scale = DynamicLossScale{
      .initial = 1e30, .growth_interval = std::nullopt, .hysteresis = 2, .minimum = 1e30};
  const Scenario scenario = make_scenario(ModelSpec{{4, 3}}, training, 2);
  const Strategy& stage2 =
      *std::find_if(small_strategies().begin(), small_strategies().end(),
                    [](const Strategy& strategy) { return strategy.name == "DEEPSPEED_STAGE2"; });
  const RunResult run = run_simulation(scenario, stage2);
  EXPECT_EQ(run.outcome(), "failed");
  EXPECT_EQ(run.failure(), "step 2: gradients overflow at the least loss scale, 1e+30");
  ASSERT_EQ(run.steps_size(), 1);
  EXPECT_EQ(run.steps(0).step(), 1);
  EXPECT_TRUE(run.steps(0).skipped());
}

// Of 9 and 4 parameters two ranks own 5 and 2 each: 28 bytes of parameters, of gradients and of
// each moment in fp32; an input of 8 bytes and a target of 4.
TEST(OutOfMemoryResults, AreThoseCountedByHand) {
  TrainingOptions training;
  training.steps = 1;
  training.global_batch = 2;
  Scenario scenario = make_scenario(ModelSpec{{2, 3, 1}}, training, 2);
  const auto fault = [&](std::uint64_t capacity) {
    scenario.device.memory_bytes = capacity;
    return run_simulation(scenario, strategy("ZERO3")).out_of_memory().ShortDebugString();
  };
  EXPECT_EQ(fault(28 + 27),
            "rank: 0 step: 0 phase: \"initialization\" category: \"gradients\" wanted_bytes: 28 "
            "free_bytes: 27");
  const std::uint64_t before_training = 4 * 28 + 8 + 4;
  EXPECT_EQ(fault(before_training - 1),
            "rank: 0 step: 0 phase: \"initialization\" category: \"inputs\" wanted_bytes: 4 "
            "free_bytes: 3");
  // All 10 elements of layer 0, padding included, then its 3 outputs beside them.
  EXPECT_EQ(fault(before_training + 39),
            "rank: 0 step: 1 phase: \"forward\" layer: \"layers.0\" category: "
            "\"gathered_parameters\" wanted_bytes: 40 free_bytes: 39");
  EXPECT_EQ(fault(before_training + 40 + 11),
            "rank: 0 step: 1 phase: \"forward\" layer: \"layers.0\" category: \"activations\" "
            "wanted_bytes: 12 free_bytes: 11");
  // Backward, layer 0: dy and the gathered layer, then a bucket for its gradient.
  EXPECT_EQ(fault(before_training + 12 + 40 + 39),
            "rank: 0 step: 1 phase: \"backward\" layer: \"layers.0\" category: "
            "\"communication_buckets\" wanted_bytes: 40 free_bytes: 39");
}

}  // namespace
}  // namespace shardscope::testing
