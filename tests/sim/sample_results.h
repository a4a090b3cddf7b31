// Made-up results, plausible in every figure, for the tests of reports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/report/context.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"
#include "tests/sim/star.h"

namespace shardscope {

inline Scenario sample_scenario(int world_size) {
  Scenario scenario;
  scenario.name = "quickstart";
  scenario.model.widths = {128, 512, 512, 128};
  scenario.training.steps = 3;
  scenario.training.precision = DType::bf16;
  scenario.training.reduce_precision = DType::bf16;
  scenario.world_size = world_size;
  scenario.device = {"classroom", 1'000'000'000, 1e12, 1e11, 0.5, 0.8, 5e-6};
  scenario.cluster = testing::star(world_size, testing::network_cable(1.25e9, 5e-6));
  scenario.digest = "0123456789abcdef";
  return scenario;
}

inline ReportContext sample_context() {
  return {.version = "1.2.3",
          .simgrid_settings = {{"network/model", "CM02"}, {"surf/precision", "1e-12"}}};
}

inline void set_time(TimeSplit& time, double exposed_s) {
  time.set_forward_s(0.25e-3);
  time.set_backward_s(0.5e-3);
  time.set_optimizer_s(0.125e-3);
  time.set_exposed_communication_s(exposed_s);
  time.set_wall_s(0.875e-3 + exposed_s);
  time.set_busy_communication_s(exposed_s + 0.25e-3);
  time.set_exposed_backward_s(exposed_s);
}

inline RankResult sample_rank(int rank, int shards, double exposed_s, int steps) {
  RankResult result;
  result.set_rank(rank);
  const std::uint64_t p = 394'368;
  const auto s = static_cast<std::uint64_t>(shards);
  for (const std::uint64_t bytes : {2 * p, 2 * p, 4 * p / s, 4 * p / s, 4 * p / s}) {
    result.mutable_state()->add_bytes(bytes);
    result.mutable_predicted_state()->add_bytes(bytes);
    result.mutable_peak()->add_bytes(bytes);
  }
  for (const std::uint64_t bytes : {25'600, 0, 98'560, 2'048}) {
    result.mutable_peak()->add_bytes(bytes);
  }
  result.mutable_peak()->set_total(4 * p + 12 * p / s + 126'000);
  result.set_predicted_peak_bytes(result.peak().total());
  for (int i = 0; i < steps; ++i) {
    RankStep& step = *result.add_steps();
    set_time(*step.mutable_time(), exposed_s);
    step.set_sent_bytes(1'380'288);
    step.set_received_bytes(1'380'288);
    step.set_predicted_sent_bytes(1'380'288);
  }
  return result;
}

/// A completed run of three steps whose compute waits so long in each of them.
inline RunResult sample_run(std::string_view strategy, int world_size, int shards,
                            double exposed_s) {
  RunResult run;
  run.set_strategy(std::string(strategy));
  run.set_world_size(world_size);
  run.set_parameters(394'368);
  run.set_outcome("completed");
  run.set_weights_digest("00000000000000aa");
  for (int i = 1; i <= 3; ++i) {
    StepResult& step = *run.add_steps();
    step.set_step(i);
    step.set_loss(0.1 / i);
    step.set_grad_norm(0.5);
    set_time(*step.mutable_time(), exposed_s);
    step.set_last_rank(0);
  }
  for (int rank = 0; rank < world_size; ++rank) {
    *run.add_ranks() = sample_rank(rank, shards, exposed_s, 3);
  }
  Limits& limits = *run.mutable_limits();
  limits.set_wall_s(3 * (0.875e-3 + exposed_s));
  limits.set_flops_s(0.6e-3);
  limits.set_memory_bandwidth_s(0.3e-3);
  limits.set_launch_overhead_s(0.15e-3);
  limits.set_wire_bandwidth_s(2 * exposed_s);
  limits.set_wire_latency_s(0.5 * exposed_s);
  return run;
}

inline RunResult out_of_memory_run(std::string_view strategy, int world_size) {
  RunResult run;
  run.set_strategy(std::string(strategy));
  run.set_world_size(world_size);
  run.set_parameters(394'368);
  run.set_outcome("out_of_memory");
  OutOfMemoryResult& result = *run.mutable_out_of_memory();
  result.set_rank(1);
  result.set_step(2);
  result.set_phase("forward");
  result.set_layer("layers.1");
  result.set_category("gathered_parameters");
  result.set_wanted_bytes(525'312);
  result.set_free_bytes(1'024);
  return run;
}

inline std::vector<RunResult> five_runs(int world_size) {
  return {sample_run("DDP", world_size, 1, 2e-3), sample_run("NAIVE_ZERO", world_size, 8, 3e-3),
          sample_run("ZERO1", world_size, 8, 2e-3), sample_run("ZERO2", world_size, 8, 1.5e-3),
          sample_run("ZERO3", world_size, 8, 2.5e-3)};
}

}  // namespace shardscope
