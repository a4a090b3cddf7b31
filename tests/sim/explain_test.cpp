// What an explanation says, against arithmetic and bytes that are worked out here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/core/support/half.h"
#include "tests/core/support/oracle.h"
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
    if (hop.round != round) {
      at_round = all;
      round = hop.round;
    }
    EXPECT_EQ(hop.to, (hop.from + 1) % ranks);
    Values& to = all[static_cast<std::size_t>(hop.to)];
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (!row.values[i].has_value()) {
        continue;
      }
      EXPECT_EQ(story.columns[i].chunk, hop.chunk);
      EXPECT_EQ(row.values[i], at_round[static_cast<std::size_t>(hop.from)][i]);
      to[i] = hop.adds ? rounded(to[i].value() + *row.values[i], dtype) : *row.values[i];
    }
  }
  const std::vector<Values> end = held(table, story, ranks, /*after=*/true);
  for (std::size_t rank = 0; rank < end.size(); ++rank) {
    EXPECT_FALSE(names_of(end[rank], story).empty());
    for (std::size_t i = 0; i < end[rank].size(); ++i) {
      if (end[rank][i].has_value()) {
        EXPECT_EQ(end[rank][i], all[rank][i]) << "rank " << rank << ", " << story.columns[i].name;
      }
    }
  }
}

// After a reduction each element that a rank ends up with is the plain sum of all ranks' elements,
// and together they have them all.
void expect_plain_sums(const ElementTable& table, const Story& story, int ranks, DType dtype) {
  const std::vector<Values> before = held(table, story, ranks, /*after=*/false);
  const std::vector<Values> after = held(table, story, ranks, /*after=*/true);
  for (std::size_t i = table.first; i < table.last; ++i) {
    double sum = 0;
    double magnitude = 0;
    for (const Values& values : before) {
      sum += static_cast<double>(values[i].value());
      magnitude += std::abs(static_cast<double>(*values[i]));
    }
    int owners = 0;
    for (const Values& values : after) {
      if (values[i].has_value()) {
        ++owners;
        EXPECT_NEAR(*values[i], sum, ranks * unit_roundoff(dtype) * magnitude)
            << story.columns[i].name;
      }
    }
    EXPECT_GE(owners, 1) << story.columns[i].name;
  }
}

// The story's numbers, state by state, as the step goes on.
class Step {
 public:
  Step(const Scenario& scenario, const Story& story, std::int64_t t)
      : scenario_(scenario), story_(story), t_(t) {
    const std::vector<ElementTable> tables = blocks_of<ElementTable>(story);
    read_states(tables.front());
    for (const ElementTable& table : tables) {
      if (has_hops(table)) {
        check_collective(table);
      } else if (&table != &tables.front()) {
        check_adam(table);
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

  void check_collective(const ElementTable& table) {
    if (is_of(table, 'g')) {
      const DType dtype = scenario_.training.reduce_precision;
      expect_hops_lead_to_the_end(table, story_, ranks(), dtype);
      expect_plain_sums(table, story_, ranks(), dtype);
      for (const Values& values : held(table, story_, ranks(), /*after=*/true)) {
        overlay(values, sums_);
      }
      return;
    }
    expect_hops_lead_to_the_end(table, story_, ranks(), scenario_.training.precision);
    for (const Values& values : held(table, story_, ranks(), /*after=*/true)) {
      for (std::size_t i = table.first; i < table.last; ++i) {
        EXPECT_EQ(values[i], states_.at('p')[i]) << "gathered is what its owner holds";
      }
    }
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
    for (std::size_t i = 0; i < story_.columns.size(); ++i) {
      const float sum = sums_[i].value_or(0.0F);  // Padding that no all_reduce moves.
      const float g =
          rounded(rounded(sum / static_cast<float>(ranks()), scenario_.training.reduce_precision),
                  precision);
      EXPECT_EQ(after['g'][i], g) << story_.columns[i].name;
      const bool decoupled = adam.variant == AdamOptions::Variant::adamw;
      const double before = states_[weights][i].value();
      const double unscaled =
          g / scenario_.training.loss_scale + (decoupled ? 0 : adam.weight_decay * before);
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
  Values sums_;
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

TEST(Explain, BytesSentGrowByWhatTheHopsCarryAndHeldBytesAddUp) {
  for_each_variant([](const std::vector<std::string>& set) {
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
  });
}

}  // namespace
}  // namespace shardscope::testing
