// Transformers through the whole simulation: every strategy keeps its accounts, with recomputation,
// tied embeddings and the optimizer on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/training/formulas.h"
#include "tests/core/support/small_strategies.h"
#include "tests/sim/sanitized.h"
#include "tests/sim/simulated.h"
#include "tests/sim/star.h"

namespace shardscope::testing {
namespace {

// What the last layer has: an output projection of its own, the embeddings' as well, or as of OPT
// without a final norm nothing but these.
enum class Head { own, tied, nothing };

ModelSpec small_transformer(Head head) {
  TransformerSpec spec;
  spec.vocabulary = 96;
  spec.hidden = 32;
  spec.blocks = 5;
  spec.heads = 4;
  spec.kv_heads = 2;
  spec.head_dim = 8;
  spec.intermediate = 48;
  spec.sequence = 16;
  spec.gated_mlp = true;
  spec.norm = Norm::rms_norm;
  spec.tied_embeddings = head != Head::own;
  spec.final_norm = head != Head::nothing;
  ModelSpec model;
  model.loss = Loss::cross_entropy;
  model.transformer = spec;
  return model;
}

struct Case {
  Head head = Head::own;
  int world = 1;
  std::size_t micro_batches = 1;
  std::size_t checkpointing = 0;
  bool on_host = false;

  std::string text() const {
    return "head " + std::to_string(static_cast<int>(head)) + ", world " + std::to_string(world) +
           ", micro-batches " + std::to_string(micro_batches) + ", checkpointing " +
           std::to_string(checkpointing) + (on_host ? ", optimizer on the host" : "");
  }
};

Scenario scenario_of(const Case& c) {
  TrainingOptions training;
  training.steps = 2;
  training.precision = DType::bf16;
  training.reduce_precision = DType::bf16;
  training.storage = Storage::shape_only;
  training.micro_batches = c.micro_batches;
  training.global_batch = 2 * static_cast<std::size_t>(c.world) * c.micro_batches;
  training.activation_checkpointing = c.checkpointing;
  training.optimizer_on_host = c.on_host;
  Scenario scenario = make_scenario(small_transformer(c.head), training, c.world);
  scenario.host = {.link_bytes_per_s = 1e9, .adam_parameters_per_s = 1e9};
  return scenario;
}

std::uint64_t total(const MemoryByCategory& memory) { return memory.total(); }

void check(const Case& c, const Strategy& strategy) {
  SCOPED_TRACE(std::string(strategy.name) + ", " + c.text());
  const Scenario scenario = scenario_of(c);
  const RunResult run = run_simulation(scenario, strategy);
  ASSERT_EQ(run.outcome(), "completed") << run.failure();
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (const RankResult& rank : run.ranks()) {
    EXPECT_EQ(total(rank.peak()), rank.predicted_peak_bytes()) << "rank " << rank.rank();
    for (int i = 0; i < rank.state().bytes_size(); ++i) {
      EXPECT_EQ(rank.state().bytes(i), rank.predicted_state().bytes(i));
    }
    EXPECT_EQ(rank.host_peak_bytes(), rank.predicted_host_bytes());
    for (const RankStep& step : rank.steps()) {
      EXPECT_EQ(step.sent_bytes(), step.predicted_sent_bytes());
      const TimeSplit& time = step.time();
      EXPECT_NEAR(time.forward_s() + time.backward_s() + time.optimizer_s() +
                      time.exposed_communication_s(),
                  time.wall_s(), 1e-9 * time.wall_s());
      sent += step.sent_bytes();
      received += step.received_bytes();
    }
  }
  EXPECT_EQ(sent, received);
}

TEST(Transformer, EveryStrategyKeepsItsAccounts) {
  const std::vector<int> worlds = kSanitized ? std::vector{2} : std::vector{1, 2, 3, 4};
  for (const Head head : {Head::own, Head::tied, Head::nothing}) {
    for (const int world : worlds) {
      for (const std::size_t checkpointing : {0, 1, 2}) {
        const Case c{.head = head,
                     .world = world,
                     .micro_batches = checkpointing == 2 ? 3U : 1U,
                     .checkpointing = checkpointing};
        for (const Strategy& strategy : small_strategies()) {
          check(c, strategy);
        }
      }
    }
  }
}

// It reads the fp32 copy of the logits that the head keeps, and a label of 8 bytes for each row;
// its backward reads them again and writes as much.
TEST(Transformer, TheLossReadsFp32Logits) {
  const RunResult run =
      run_simulation(scenario_of({}), *find_strategy("DDP"), 1, {.first = 1, .last = 1});
  const std::uint64_t rows = 2 * 16;
  std::vector<std::uint64_t> bytes;
  for (const ComputeOperation& operation : run.recordings(0).compute()) {
    if (operation.kernel() == "loss") {
      bytes.push_back(static_cast<std::uint64_t>(operation.bytes()));
    }
  }
  ASSERT_EQ(bytes.size(), 2U);
  EXPECT_EQ(bytes[0], rows * (96 * 4 + 8));
  EXPECT_EQ(bytes[1], rows * (2 * 96 * 4 + 8));
}

TEST(Transformer, TheOptimizerOnTheHostLeavesTheDevice) {
  for (const Head head : {Head::own, Head::tied, Head::nothing}) {
    for (const Strategy& strategy : small_strategies()) {
      if (strategy.has_shards()) {
        check({.head = head, .world = 4, .micro_batches = 2, .checkpointing = 1, .on_host = true},
              strategy);
      }
    }
  }
}

// P parameters on N ranks: gradients of the shard go up in 2 bytes each, the update takes P / N at
// the rank's part of the rate, and 2 bytes each come back.
TEST(Transformer, TheHostTakesTheTimeOfItsTransfersAndUpdate) {
  const Case on_device{.world = 4};
  Case on_host = on_device;
  on_host.on_host = true;
  const Strategy& zero2 = *find_strategy("ZERO2");
  const RunResult run = run_simulation(scenario_of(on_host), zero2);
  const Scenario scenario = scenario_of(on_host);
  const TrainingRank rank{zero2, scenario.model, scenario.training, 4, 0};
  const double owned = static_cast<double>(predicted_host_bytes(
                           rank)[static_cast<std::size_t>(Category::master_weights)]) /
                       4;
  const double expected = 2 * owned / 1e9 + owned / (1e9 / 1) + 2 * owned / 1e9;
  EXPECT_NEAR(run.limits().host_s() / 2, expected, 1e-9 * expected);  // Of a step of two.
}

}  // namespace
}  // namespace shardscope::testing
