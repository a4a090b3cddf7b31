// What an explanation says, against arithmetic and bytes that are worked out here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/core/support/half.h"
#include "tests/core/support/oracle.h"
#include "tests/core/support/plans.h"
#include "tests/sim/explained.h"

namespace shardscope::testing {
namespace {

using Values = std::vector<std::optional<float>>;

float rounded(double value, DType dtype) { return static_cast<float>(nearest(dtype, value)); }

double unit_roundoff(DType dtype) {
  return dtype == DType::fp32 ? 0x1p-24 : dtype == DType::bf16 ? 0x1p-8 : 0x1p-11;
}

// Puts what is there over what is known.
void overlay(const Values& values, Values& onto) {
  onto.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    onto[i] = values[i].has_value() ? values[i] : onto[i];
  }
}

std::vector<std::string> names_of(const Values& values, const Story& story) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].has_value()) {
      names.push_back(story.columns[i].name);
    }
  }
  return names;
}

// What each rank holds by the rows of a table that are no hops: those before the first hop, or
// those after the last.
std::vector<Values> held(const ElementTable& table, const Story& story, int ranks, bool after) {
  std::vector<Values> all(static_cast<std::size_t>(ranks), Values(story.columns.size()));
  bool seen_hop = false;
  for (const ElementRow& row : table.rows) {
    seen_hop = seen_hop || row.hop.has_value();
    if (row.hop.has_value() || seen_hop != after) {
      continue;
    }
    for (int rank = 0; rank < ranks; ++rank) {
      if (row.holder != Holder::one || row.rank == rank) {
        overlay(row.values, all[static_cast<std::size_t>(rank)]);
      }
    }
  }
  return all;
}

bool has_hops(const ElementTable& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const ElementRow& row) { return row.hop.has_value(); });
}

bool is_of(const ElementTable& table, char state) { return table.rows.front().state == state; }

// Plays the hops one after another on what the ranks held before.
void expect_hops_lead_to_the_end(const ElementTable& table, const Story& story, int ranks,
                                 DType dtype) {
  std::vector<Values> all = held(table, story, ranks, /*after=*/false);
  std::vector<Values> at_round = all;
  int round = 0;
  for (const ElementRow& row : table.rows) {
    if (!row.hop.has_value()) {
      continue;
    }
    const Hop& hop = *row.hop;
    EXPECT_GE(hop.round, round) << "rounds are told in order";
    EXPECT_NE(hop.to, hop.from);
    if (hop.round != round) {
      at_round = all;
      round = hop.round;
    }
    Values& to = all[static_cast<std::size_t>(hop.to)];
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (!row.values[i].has_value()) {
        continue;
      }
      EXPECT_EQ(std::count(hop.chunks.begin(), hop.chunks.end(), static_cast<int>(table.chunks[i])),
                1);
      EXPECT_EQ(row.values[i], at_round[static_cast<std::size_t>(hop.from)][i]);
      to[i] = hop.adds ? rounded(to[i].value() + *row.values[i], dtype) : *row.values[i];
    }
  }
  const std::vector<Values> end = held(table, story, ranks, /*after=*/true);
  for (std::size_t rank = 0; rank < end.size(); ++rank) {
    for (std::size_t i = 0; i < end[rank].size(); ++i) {
      if (end[rank][i].has_value()) {
        EXPECT_EQ(end[rank][i], all[rank][i]) << "rank " << rank << ", " << story.columns[i].name;
      }
    }
  }
}

// Which ranks take part in a table's collective with each other: by rank, the lowest of them.
std::vector<int> groups_of(const ElementTable& table, int ranks) {
  std::vector<int> groups(static_cast<std::size_t>(ranks));
  std::iota(groups.begin(), groups.end(), 0);
  for (const ElementRow& row : table.rows) {
    if (row.hop.has_value()) {
      const int from = groups[static_cast<std::size_t>(row.hop->from)];
      const int to = groups[static_cast<std::size_t>(row.hop->to)];
      std::replace(groups.begin(), groups.end(), std::max(from, to), std::min(from, to));
    }
  }
  return groups;
}

// After a reduction each element that a rank ends up with is the plain sum of the elements of its
// group, and together they have them all.
void expect_plain_sums(const ElementTable& table, const Story& story, int ranks, DType dtype) {
  const std::vector<Values> before = held(table, story, ranks, /*after=*/false);
  const std::vector<Values> after = held(table, story, ranks, /*after=*/true);
  const std::vector<int> groups = groups_of(table, ranks);
  for (std::size_t i = table.first; i < table.last; ++i) {
    std::map<int, double> sums;
    std::map<int, double> magnitudes;
    for (std::size_t rank = 0; rank < before.size(); ++rank) {
      if (before[rank][i].has_value()) {
        sums[groups[rank]] += static_cast<double>(*before[rank][i]);
        magnitudes[groups[rank]] += std::abs(static_cast<double>(*before[rank][i]));
      }
    }
    std::set<int> owned;
    for (std::size_t rank = 0; rank < after.size(); ++rank) {
      if (after[rank][i].has_value()) {
        owned.insert(groups[rank]);
        EXPECT_NEAR(*after[rank][i], sums.at(groups[rank]),
                    ranks * unit_roundoff(dtype) * magnitudes.at(groups[rank]))
            << story.columns[i].name;
      }
    }
    EXPECT_EQ(owned.size(), sums.size()) << story.columns[i].name;
  }
}

// The story's numbers, state by state, as the step goes on.
class Step {
 public:
  Step(const Scenario& scenario, const Story& story, std::int64_t t)
      : scenario_(scenario), story_(story), t_(t) {
    read_states(blocks_of<ElementTable>(story).front());
    for (std::size_t s = 1; s < story.sections.size(); ++s) {
      const std::optional<ElementTable> table = table_of(s);
      if (!table.has_value()) {
        continue;
      }
      if (has_hops(*table)) {
        check_collective(*table, story.sections[s].title);
      } else if (story.sections[s].title == "Optimizer: Adam") {
        check_adam(*table);
      }
    }
  }

  // The weights after the step, in torch order.
  std::vector<float> weights() const {
    const char state = scenario_.training.has_master_weights() ? 'w' : 'p';
    std::vector<float> weights;
    for (std::size_t i = 0; i < story_.columns.size(); ++i) {
      if (story_.columns[i].name != "pad") {
        weights.push_back(states_.at(state)[i].value());
      }
    }
    return weights;
  }

 private:
  int ranks() const { return scenario_.world_size; }

  const Strategy& strategy() const {
    const std::string name = story_.title.substr(0, story_.title.find(','));
    return *std::find_if(scenario_.strategies.begin(), scenario_.strategies.end(),
                         [&](const Strategy& strategy) { return strategy.name == name; });
  }

  // Also where a section's numbers are those of an earlier one.
  std::optional<ElementTable> table_of(std::size_t section) const {
    const std::string& title = story_.sections[section].title;
    const std::string reference = ", the numbers of ";
    const std::size_t found = title.find(reference);
    if (found != std::string::npos) {
      return table_of(std::stoul(title.substr(found + reference.size())) - 1);
    }
    for (const Block& block : story_.sections[section].blocks) {
      if (const auto* table = std::get_if<ElementTable>(&block)) {
        return *table;
      }
    }
    return std::nullopt;
  }

  std::string told() const {
    std::string text;
    for (const std::string& sentence : blocks_of<std::string>(story_)) {
      text += sentence + " ";
    }
    return text;
  }

  void read_states(const ElementTable& table) {
    for (const ElementRow& row : table.rows) {
      overlay(row.values, states_[row.state]);
    }
    for (const char state : {'m', 'v'}) {  // Where all are 0 the table leaves them out.
      states_[state].resize(story_.columns.size());
      std::replace(states_[state].begin(), states_[state].end(), std::optional<float>(),
                   std::optional(0.0F));
    }
  }

  void check_collective(const ElementTable& table, const std::string& title) {
    if (is_of(table, 'g')) {
      check_reduction(table, title.find("across groups") != std::string::npos);
      return;
    }
    expect_hops_lead_to_the_end(table, story_, ranks(), scenario_.training.precision);
    for (const Values& values : held(table, story_, ranks(), /*after=*/true)) {
      for (std::size_t i = table.first; i < table.last; ++i) {
        EXPECT_TRUE(!values[i].has_value() || values[i] == states_.at('p')[i])
            << "gathered is what its owner holds";
      }
    }
  }

  void check_reduction(const ElementTable& table, bool across) {
    const bool kept = across && !strategy().reduce_across_every_micro_step;
    const DType dtype = scenario_.training.reduce_precision;
    expect_hops_lead_to_the_end(table, story_, ranks(), dtype);
    expect_plain_sums(table, story_, ranks(), dtype);
    Values sums(story_.columns.size());
    for (const Values& values : held(table, story_, ranks(), /*after=*/true)) {
      overlay(values, sums);
    }
    const int group = shard_group_ranks(strategy(), ranks());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (!sums[i].has_value()) {
        continue;
      }
      if (!across) {
        average(i);  // Of the micro-step before.
      }
      sums_[i] = sums[i];
      divisors_[i] = !across ? group : kept ? ranks() / group : ranks();
      if (kept) {
        kept_.erase(i);
      }
    }
  }

  // Adds the average to what is kept, or where ranks keep all gradients puts it there: these were
  // added before they were reduced.
  void average(std::size_t i) {
    if (!sums_.contains(i)) {
      return;
    }
    const TrainingOptions& training = scenario_.training;
    const float mean = rounded(sums_.at(i).value() / static_cast<float>(divisors_.at(i)),
                               training.reduce_precision);
    const bool adds = strategy().gradients == Placement::sharded && kept_.contains(i);
    kept_[i] = rounded((adds ? static_cast<double>(kept_.at(i)) : 0.0) + mean,
                       training.accumulate_precision());
    sums_.erase(i);
  }

  // By the equations of torch or DeepSpeed from the gradients that Adam is shown to have.
  double clip_coefficient(const Values& gradients) const {
    const double clip = scenario_.training.clip_norm;
    if (clip == 0) {
      return 1;
    }
    double squares = 0;
    for (const std::optional<float>& g : gradients) {
      squares += g.has_value() ? static_cast<double>(*g) * static_cast<double>(*g) : 0;
    }
    const double norm = std::sqrt(squares) / scenario_.training.loss_scale;
    const double c = std::min(1.0, clip / (norm + 1e-6));
    const std::string text = told();
    const std::size_t sentence = text.find("The norm is the root of the sum of squares, ");
    EXPECT_NE(sentence, std::string::npos);
    EXPECT_NEAR(std::stod(text.substr(text.find("squares, ", sentence) + 9)), norm, 1e-3 * norm);
    const std::size_t equals = text.find(" = ", text.find("c = ", sentence) + 4);
    EXPECT_NEAR(std::stod(text.substr(equals + 3)), c, 1e-3 * c);
    return c;
  }

  // The equations of Adam in fp64.
  void check_adam(const ElementTable& table) {
    const AdamOptions& adam = scenario_.training.optimizer;
    const DType precision = scenario_.training.precision;
    std::map<char, Values> after;
    for (const ElementRow& row : table.rows) {
      EXPECT_NE(row.holder, Holder::one);
      overlay(row.values, after[row.state]);
    }
    const char weights = scenario_.training.has_master_weights() ? 'w' : 'p';
    const auto t = static_cast<double>(t_);
    const double clip = clip_coefficient(after['g']);
    for (std::size_t i = 0; i < story_.columns.size(); ++i) {
      average(i);
      const float g = kept_[i];  // 0 of padding that no all_reduce moves.
      EXPECT_EQ(after['g'][i], g) << story_.columns[i].name;
      const bool decoupled = adam.variant == AdamOptions::Variant::adamw;
      const double before = states_[weights][i].value();
      const double unscaled =
          g * clip / scenario_.training.loss_scale + (decoupled ? 0 : adam.weight_decay * before);
      const double m = adam.beta1 * states_['m'][i].value() + (1 - adam.beta1) * unscaled;
      const double v =
          adam.beta2 * states_['v'][i].value() + (1 - adam.beta2) * unscaled * unscaled;
      const double w = before - (decoupled ? adam.learning_rate * adam.weight_decay * before : 0) -
                       adam.learning_rate * (m / (1 - std::pow(adam.beta1, t))) /
                           (std::sqrt(v / (1 - std::pow(adam.beta2, t))) + adam.epsilon);
      EXPECT_NEAR(after['m'][i].value(), m, 1e-6 * std::abs(m));
      EXPECT_NEAR(after['v'][i].value(), v, 1e-6 * v);
      EXPECT_NEAR(after[weights][i].value(), w, 1e-6 * std::max(1.0, std::abs(w)));
      EXPECT_EQ(after['p'][i], rounded(after[weights][i].value(), precision));
    }
    for (const auto& [state, values] : after) {
      states_[state] = values;
    }
  }

  const Scenario& scenario_;
  const Story& story_;
  std::int64_t t_;
  std::map<char, Values> states_;
  std::map<std::size_t, std::optional<float>> sums_;  // Not averaged yet, by column.
  std::map<std::size_t, int> divisors_;
  std::map<std::size_t, float> kept_;
};

struct Variant {
  const char* layers;
  const char* precision;
  const char* reduce_precision;
  const char* optimizer;
  double weight_decay;
  double loss_scale;
};

const Variant kVariants[] = {{"[2,2,1]", "FP32", "FP32", "ADAM", 0, 1},
                             {"[2,3,2]", "BF16", "BF16", "ADAMW", 0.125, 1},
                             {"[1,1,1,1]", "FP16", "FP32", "ADAM", 0, 64},
                             {"[3,2]", "BF16", "FP32", "ADAM", 0.125, 1}};

// Calls f for variants of the scenario by all strategies on 2 to 4 ranks.
void for_each_variant(const std::function<void(const std::vector<std::string>& set)>& f) {
  for (const Variant& variant : kVariants) {
    for (int ranks = 2; ranks <= 4; ++ranks) {
      const std::vector<std::string> set = {
          std::string("model.layers=") + variant.layers,
          std::string("training.precision=") + variant.precision,
          std::string("training.reduce_precision=") + variant.reduce_precision,
          "training.global_batch=12",
          "cluster.world_size=" + std::to_string(ranks),
          "strategies=DDP,NAIVE_ZERO,ZERO1,ZERO2,ZERO3"};
      SCOPED_TRACE(std::string(variant.layers) + " " + variant.precision + " on " +
                   std::to_string(ranks) + " ranks");
      f(set);
    }
  }
}

TEST(Explain, EveryNumberFollowsFromThoseBeforeIt) {
  for_each_variant([](const std::vector<std::string>& set) {
    for (const std::int64_t t : {1, 2, 3}) {
      const Explained explained(set, t);
      ASSERT_EQ(explained.explanation.stories.size(), 5U);
      for (const Story& story : explained.explanation.stories) {
        SCOPED_TRACE(story.title);
        const Step step(explained.scenario, story, t);
      }
    }
  });
}

const std::string kFrameworks =
    "strategies=TORCH_DDP,DEEPSPEED_STAGE0,DEEPSPEED_STAGE1,DEEPSPEED_STAGE2,DEEPSPEED_STAGE3,"
    "FSDP_FULL_SHARD,FSDP_SHARD_GRAD_OP,FSDP_NO_SHARD,FSDP_HYBRID_SHARD,"
    "ZERO_REDUNDANCY_OPTIMIZER";

// Calls f for the frameworks' strategies with buckets of parts of layers, of layers, and of more.
void for_each_framework(const std::function<void(const std::vector<std::string>& set)>& f) {
  const std::vector<std::vector<std::string>> variants = {
      {"cluster.world_size=2", "options.bucket_elements=4", "options.bucket_size=12B",
       "options.first_bucket_size=4B", "options.persistence_threshold=1",
       "options.max_reuse_distance=4", "options.prefetch_elements=3"},
      {"cluster.world_size=3", "training.micro_batches=2", "training.clip_norm=0.5",
       "options.bucket_elements=7", "options.bucket_size=20B", "options.overlap=false",
       "options.reduce=EVERY_MICRO_STEP", "options.sub_group_size=2"},
      {"cluster.world_size=4", "training.micro_batches=2", "training.precision=FP16",
       "training.loss_scale=64", "training.reduce_precision=FP32", "options.bucket_elements=2",
       "options.shard_group_size=2", "options.reduce_across=BOUNDARY",
       "training.activation_checkpointing=2", "options.gradient_as_bucket_view=true"},
      {"cluster.world_size=4", "training.micro_batches=3", "training.clip_norm=0.25",
       "training.fp32_gradient_accumulation=true", "options.shard_group_size=2",
       "options.contiguous_gradients=false", "options.bucket_elements=5",
       "options.reduce_scatter=false", "training.activation_checkpointing=1"},
      {"cluster.world_size=4", "model.layers=[2,1]", "options.shard_group_size=1",
       "options.prefetch_layers=0"}};
  for (std::vector<std::string> set : variants) {
    SCOPED_TRACE(set[0] + " " + set[1]);
    set.insert(set.end(), {kFrameworks, "training.global_batch=48"});
    f(set);
  }
}

TEST(Explain, EveryNumberOfFrameworksFollowsFromThoseBeforeIt) {
  for_each_framework([](const std::vector<std::string>& set) {
    for (const std::int64_t t : {1, 2}) {
      const Explained explained(set, t);
      ASSERT_EQ(explained.explanation.stories.size(), 10U);
      for (const Story& story : explained.explanation.stories) {
        SCOPED_TRACE(story.title);
        const Step step(explained.scenario, story, t);
      }
    }
  });
}

// By formula "... = 20 B; held: 20 B." and the same of what was sent.
void expect_formulas(const Explained& explained) {
  for (const Story& story : explained.explanation.stories) {
    const Section& sums = story.sections.back();
    for (const auto& [block, word] : {std::pair(1, "; held: "), std::pair(2, "; sent: ")}) {
      const auto& text = std::get<std::string>(sums.blocks.at(static_cast<std::size_t>(block)));
      const std::size_t split = text.find(word);
      ASSERT_NE(split, std::string::npos) << text;
      const std::string measured = text.substr(split + 8, text.find('.', split) - split - 8);
      const std::string before = text.substr(0, split);
      EXPECT_EQ(before.substr(before.size() - measured.size()), measured)
          << story.title << ": " << text;
    }
  }
}

TEST(Explain, BytesOfFrameworksAreThoseOfTheFormulas) {
  for_each_framework([](const std::vector<std::string>& set) {
    for (const std::int64_t t : {1, 2}) {
      expect_formulas(Explained(set, t));
    }
  });
}

// Messages of several chunks and of parts of them, several at once, folded ranks.
TEST(Explain, EveryNumberFollowsUnderEveryAlgorithm) {
  for (const Algorithm algorithm : kAlgorithms) {
    SCOPED_TRACE(std::string(name(algorithm)));
    const AlgorithmPlanner planner(algorithm);
    const auto check = [&](const std::vector<std::string>& set) {
      const Explained explained(set, 2, planner);
      for (const Story& story : explained.explanation.stories) {
        SCOPED_TRACE(story.title);
        const Step step(explained.scenario, story, 2);
      }
      expect_formulas(explained);
    };
    for_each_variant(check);
    for_each_framework(check);
  }
}

// What is said of a broadcast, and of sums whose bytes are not the ring's.
TEST(Explain, SentencesAreThoseOfTheAlgorithm) {
  const auto sentences = [](Algorithm algorithm, const char* strategy) {
    const AlgorithmPlanner planner(algorithm);
    const Explained explained(
        {"cluster.world_size=3", "training.global_batch=12", std::string("strategies=") + strategy},
        1, planner);
    std::string text;
    for (const std::string& sentence : blocks_of<std::string>(explained.explanation.stories[0])) {
      text += sentence + " ";
    }
    return text;
  };
  const auto expect_in = [](const char* words, const std::string& text) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  const char* const broadcasts = "ZERO_REDUNDANCY_OPTIMIZER";
  expect_in("Passed on around the ring, by all but the rank before the root: S = ",
            sentences(Algorithm::ring, broadcasts));
  expect_in("Passed down two trees, half of it in each: S = ",
            sentences(Algorithm::double_tree, broadcasts));
  expect_in("Sent by the root to each rank: S = ", sentences(Algorithm::direct, broadcasts));
  expect_in("By formula of recursive halving and doubling where N is no power of two, S = 18 B: ",
            sentences(Algorithm::halving_doubling, "DDP"));
  expect_in(" in rings; as planned ", sentences(Algorithm::halving_doubling, "ZERO1"));
}

TEST(Explain, SkippedStepsSayWhatBecomesOfTheLossScale) {
  const std::vector<std::string> set = {"training.precision=FP16",
                                        "training.dynamic_loss_scale={initial: 1e9}",
                                        "strategies=ZERO1,TORCH_DDP,DEEPSPEED_STAGE2,"
                                        "ZERO_REDUNDANCY_OPTIMIZER"};
  const Explained explained(set, 1);
  const char* const becomes[] = {"was 1e9 and becomes 5e8.", "was 1e9 and becomes 5e8.",
                                 "stays 1e9.", "was 1e9 and becomes 5e8."};
  for (std::size_t s = 0; s < 4; ++s) {
    std::string told;
    for (const std::string& sentence : blocks_of<std::string>(explained.explanation.stories[s])) {
      told += sentence + " ";
    }
    EXPECT_NE(told.find("Gradients overflow: nothing is updated. The loss scale " +
                        std::string(becomes[s])),
              std::string::npos)
        << told;
  }
}

// Issued where one layer computes, used where the next one does.
TEST(Explain, PrefetchedGathersAreWaitedForWhereTheyAreUsed) {
  const Explained explained({"strategies=FSDP_FULL_SHARD"});
  const Story& story = explained.explanation.stories[0];
  EXPECT_EQ(story.sections[2].title,
            "Forward: all_gather layers.1 ahead of its use (parameters, S = 4 x 2 B)");
  EXPECT_EQ(std::get<std::string>(story.sections[2].blocks.back()).substr(0, 82),
            "Forward through layer 0. What section 3 began is waited for. Forward through layer");
}

TEST(Explain, WeightsAndLossesAreThoseOfASingleProcess) {
  for (const int ranks : {2, 3, 4}) {
    const std::vector<std::string> set = {"training.precision=FP32", "training.global_batch=12",
                                          "cluster.world_size=" + std::to_string(ranks),
                                          "strategies=DDP,NAIVE_ZERO,ZERO1,ZERO2,ZERO3"};
    for (const std::int64_t t : {1, 3}) {
      const Explained explained(set, t);
      const Scenario& scenario = explained.scenario;
      Oracle oracle(scenario.model, scenario.training, static_cast<std::size_t>(ranks),
                    *explained.sources.weights, *explained.sources.batches);
      double loss = 0;
      for (std::int64_t step = 1; step <= t; ++step) {
        loss = oracle.step(step);
      }
      for (const Story& story : explained.explanation.stories) {
        SCOPED_TRACE(story.title);
        const std::vector<float> weights = Step(scenario, story, t).weights();
        ASSERT_EQ(weights.size(), oracle.weights().size());
        for (std::size_t i = 0; i < weights.size(); ++i) {
          EXPECT_NEAR(weights[i], oracle.weights()[i], 1e-5);
        }
        std::string told;
        for (const std::string& sentence : blocks_of<std::string>(story)) {
          told += sentence + " ";
        }
        const std::size_t mean = told.find("mean ");
        ASSERT_NE(mean, std::string::npos) << told;
        EXPECT_NEAR(std::stod(told.substr(mean + 5)), loss, 5e-5 + 5e-4 * loss);
      }
    }
  }
}

TEST(Explain, AStepBeginsWhereTheOneBeforeEnded) {
  const std::vector<std::string> set = {"strategies=DDP,ZERO1,ZERO3"};
  const Explained first(set, 1);
  const Explained second(set, 2);
  for (std::size_t s = 0; s < 3; ++s) {
    const Story& story = second.explanation.stories[s];
    Values at_start;
    const std::vector<ElementTable> tables = blocks_of<ElementTable>(story);
    for (const ElementRow& row : tables.front().rows) {
      if (row.state == 'w') {
        overlay(row.values, at_start);
      }
    }
    const std::vector<float> weights =
        Step(first.scenario, first.explanation.stories[s], 1).weights();
    std::vector<float> values;
    for (std::size_t i = 0; i < at_start.size(); ++i) {
      if (story.columns[i].name != "pad") {
        values.push_back(at_start[i].value());
      }
    }
    EXPECT_EQ(values, weights) << story.title;
  }
}

// The loss scale overflows fp16: from step 1 on every replicated state is NaN on every rank.
TEST(Explain, StatesThatAreNanOnEveryRankAreOneRow) {
  const Explained explained({"training.precision=FP16", "training.loss_scale=1e30",
                             "cluster.world_size=4", "strategies=DDP"},
                            3);
  const ElementTable start = blocks_of<ElementTable>(explained.explanation.stories[0]).front();
  bool has_nan = false;
  for (const ElementRow& row : start.rows) {
    EXPECT_EQ(row.holder, Holder::all) << row.state << " of rank " << row.rank;
    has_nan = has_nan || std::any_of(row.values.begin(), row.values.end(),
                                     [](const auto& value) { return std::isnan(value.value()); });
  }
  EXPECT_TRUE(has_nan);
}

TEST(Explain, RowsAreComparedBitByBit) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(has_same_bits({nan, std::nullopt, 1.0f}, {nan, std::nullopt, 1.0f}));
  EXPECT_FALSE(has_same_bits({nan}, {-nan}));
  EXPECT_FALSE(has_same_bits({0.0f}, {-0.0f}));
  EXPECT_FALSE(has_same_bits({nan}, {std::nullopt}));
  EXPECT_FALSE(has_same_bits({nan, nan}, {nan}));
}

// ---- Bytes ----

using Figures = std::vector<std::uint64_t>;

// The figures of a row, for one rank.
Figures figures_of(const Story& story, const std::string& name, int rank) {
  const std::vector<FigureTable> tables = blocks_of<FigureTable>(story);
  for (const std::vector<std::string>& row : tables.at(0).rows) {
    if (row.front() == name || row.front() == name + ", rank " + std::to_string(rank)) {
      Figures figures;
      std::transform(row.begin() + 1, row.end(), std::back_inserter(figures),
                     [](const std::string& cell) { return std::stoull(cell); });
      return figures;
    }
  }
  return Figures(tables.at(0).titles.size() - 1);
}

const char* const kStates[] = {"parameters", "gradients", "master weights", "first moment",
                               "second moment"};
const char* const kOthers[] = {"activations", "gathered parameters", "communication buckets",
                               "inputs"};

struct Bytes {
  std::uint64_t states;
  std::uint64_t sent;
};

// 9 parameters on 2 ranks in bf16; 10 with padding, in all or by layer (6 + 4).
TEST(Explain, BytesOfTheShippedScenarioAreThoseWorkedOutByHand) {
  const std::map<std::string, Bytes> expected = {
      {"DDP", {(2 + 2 + 12) * 9, 2 * 9}},
      {"NAIVE_ZERO", {(2 + 2) * 10 + 12 * 5, 2 * 9 + 2 * 5}},
      {"ZERO1", {(2 + 2) * 10 + 12 * 5, 2 * 5 + 2 * 5}},
      {"ZERO2", {2 * 10 + (2 + 12) * 5, 2 * (3 + 2) + 2 * 5}},
      {"ZERO3", {(2 + 2 + 12) * 5, 2 * (3 + 2) + 2 * 2 * (3 + 2)}},
  };
  const Explained explained({"strategies=DDP,NAIVE_ZERO,ZERO1,ZERO2,ZERO3"});
  for (const Story& story : explained.explanation.stories) {
    const std::string strategy = story.title.substr(0, story.title.find(','));
    SCOPED_TRACE(strategy);
    const Bytes bytes = expected.at(strategy);
    std::string told;
    for (const std::string& sentence : blocks_of<std::string>(story)) {
      told += sentence + "\n";
    }
    for (const std::string& figure :
         {"= " + std::to_string(bytes.states) + " B; held: " + std::to_string(bytes.states) + " B.",
          "= " + std::to_string(bytes.sent) + " B; sent: " + std::to_string(bytes.sent) + " B."}) {
      EXPECT_NE(told.find(figure), std::string::npos) << figure << " is not in:\n" << told;
    }
    for (int rank = 0; rank < 2; ++rank) {
      std::uint64_t states = 0;
      for (const char* state : kStates) {
        states += figures_of(story, state, rank).back();
      }
      EXPECT_EQ(states, bytes.states);
      EXPECT_EQ(figures_of(story, "sent so far", rank).back(), bytes.sent);
    }
  }
}

// The section's hops, also where they are those of an earlier section.
std::vector<ElementRow> hops_of(const Story& story, std::size_t index) {
  std::string title = story.sections[index].title;
  const std::string reference = ", the numbers of ";
  const std::size_t found = title.find(reference);
  if (found != std::string::npos) {
    return hops_of(story, std::stoul(title.substr(found + reference.size())) - 1);
  }
  std::vector<ElementRow> hops;
  for (const Block& block : story.sections[index].blocks) {
    if (const auto* table = std::get_if<ElementTable>(&block)) {
      std::copy_if(table->rows.begin(), table->rows.end(), std::back_inserter(hops),
                   [](const ElementRow& row) { return row.hop.has_value(); });
    }
  }
  return hops;
}

void expect_bytes_follow(const std::vector<std::string>& set) {
  const Explained explained(set, 2);
  const TrainingOptions& training = explained.scenario.training;
  for (const Story& story : explained.explanation.stories) {
    SCOPED_TRACE(story.title);
    for (int rank = 0; rank < explained.scenario.world_size; ++rank) {
      const Figures sent = figures_of(story, "sent so far", rank);
      ASSERT_EQ(sent.size(), story.sections.size());  // The last section is the table.
      std::uint64_t so_far = 0;
      for (std::size_t s = 0; s + 1 < story.sections.size(); ++s) {
        for (const ElementRow& hop : hops_of(story, s)) {
          const std::size_t size =
              size_of(hop.state == 'g' ? training.reduce_precision : training.precision);
          so_far += hop.hop->from == rank ? size * names_of(hop.values, story).size() : 0;
        }
        EXPECT_EQ(sent[s], so_far) << "section " << s + 1;
      }
      EXPECT_EQ(sent.back(), so_far);
      Figures sum(sent.size());
      const auto add = [&](const char* category) {
        const Figures figures = figures_of(story, category, rank);
        std::transform(sum.begin(), sum.end(), figures.begin(), sum.begin(), std::plus<>());
      };
      std::for_each(std::begin(kStates), std::end(kStates), add);
      std::for_each(std::begin(kOthers), std::end(kOthers), add);
      EXPECT_EQ(figures_of(story, "all that is held", rank), sum);
    }
  }
}

TEST(Explain, BytesSentGrowByWhatTheHopsCarryAndHeldBytesAddUp) {
  for_each_variant(expect_bytes_follow);
  for_each_framework(expect_bytes_follow);
}

}  // namespace
}  // namespace shardscope::testing
