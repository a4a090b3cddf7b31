#include "sim/explain/tell.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "sim/explain/formula_text.h"
#include "sim/explain/layout.h"
#include "sim/explain/ledger_table.h"
#include "sim/explain/marks.h"
#include "sim/explain/wording.h"
#include "sim/report/format.h"

namespace shardscope {
namespace {

constexpr char kStateLetters[] = {'p', 'g', 'w', 'm', 'v'};

char letter(Category state) { return kStateLetters[static_cast<std::size_t>(state)]; }

bool holds_only_zeros(const Marks& marks, std::size_t state) {
  return !marks.front()->states[state].empty() &&
         std::all_of(marks.begin(), marks.end(), [&](const Moment* moment) {
           const std::vector<float>& values = moment->states[state];
           return std::all_of(values.begin(), values.end(), [](float x) { return x == 0; });
         });
}

bool holds_any(const Layout::Values& values) {
  return std::any_of(values.begin(), values.end(),
                     [](const std::optional<float>& value) { return value.has_value(); });
}

class Teller {
 public:
  Teller(const Scenario& scenario, const Strategy& strategy, std::int64_t step,
         const std::vector<StepLog>& logs)
      : scenario_(scenario),
        strategy_(strategy),
        step_(step),
        logs_(logs),
        layout_(strategy, scenario.model, scenario.world_size) {}

  Story tell();

 private:
  using Values = Layout::Values;

  int world_size() const { return scenario_.world_size; }
  const StepLog& log(int rank) const { return logs_[static_cast<std::size_t>(rank)]; }

  void begin_section(const std::string& title, const Marks& marks);
  void add(Block block) { story_.sections.back().blocks.push_back(std::move(block)); }
  void add_rows(ElementTable& table, char state, const std::function<Values(int rank)>& values);
  void add_owned(ElementTable& table, Category state, const Marks& marks);
  void add_hops(ElementTable& table, char state, const Marks& marks);
  void tell_beginning();
  void tell_kernels();
  void tell_collective();
  void tell_adam();
  void tell_sums();

  const Scenario& scenario_;
  const Strategy& strategy_;
  std::int64_t step_;
  const std::vector<StepLog>& logs_;
  Layout layout_;
  Story story_;
  std::vector<LedgerColumn> ledger_;
  std::vector<const Moment*> kernels_;                      // Of rank 0, not told yet.
  std::size_t collectives_ = 0;                             // Told.
  std::vector<std::pair<ElementTable, std::size_t>> told_;  // And in which section.
};

Story Teller::tell() {
  story_.title = std::string(strategy_.name) + ", step " + std::to_string(step_) + " of " +
                 std::to_string(scenario_.training.steps);
  story_.about = about(strategy_, scenario_.training);
  story_.columns = layout_.columns();
  tell_beginning();
  for (const Moment& moment : logs_.front().moments) {
    if (moment.collective.has_value()) {
      tell_kernels();
      tell_collective();
    } else if (moment.kernel == "adam") {
      tell_kernels();
      tell_adam();
    } else if (!moment.kernel.empty()) {
      kernels_.push_back(&moment);
    }
  }
  tell_sums();
  return std::move(story_);
}

void Teller::begin_section(const std::string& title, const Marks& marks) {
  story_.sections.push_back({.title = title, .blocks = {}});
  ledger_.push_back({std::to_string(story_.sections.size()), marks});
}

// A row for each rank that holds something, or one for all if they hold the same.
void Teller::add_rows(ElementTable& table, char state,
                      const std::function<Values(int rank)>& values) {
  std::vector<ElementRow> rows;
  bool equal = true;
  for (int rank = 0; rank < world_size(); ++rank) {
    rows.push_back({.state = state,
                    .holder = Holder::one,
                    .rank = rank,
                    .hop = std::nullopt,
                    .values = values(rank)});
    equal = equal && has_same_bits(rows.back().values, rows.front().values);
  }
  if (equal) {
    rows.resize(1);
    rows.front().holder = Holder::all;
  }
  for (ElementRow& row : rows) {
    if (holds_any(row.values)) {
      table.rows.push_back(std::move(row));
    }
  }
}

// One row for what the ranks own: theirs alone, or the same.
void Teller::add_owned(ElementTable& table, Category state, const Marks& marks) {
  const bool sharded = strategy_.optimizer == Placement::sharded;
  ElementRow row = {.state = letter(state),
                    .holder = sharded ? Holder::own : Holder::all,
                    .rank = 0,
                    .hop = std::nullopt,
                    .values = Values(story_.columns.size())};
  for (int rank = 0; rank < world_size(); ++rank) {
    const std::vector<float>& held =
        marks[static_cast<std::size_t>(rank)]->states[static_cast<std::size_t>(state)];
    const Values owned = layout_.only_owned(layout_.spread_state(held, rank), rank);
    for (std::size_t i = 0; i < owned.size(); ++i) {
      row.values[i] = owned[i].has_value() ? owned[i] : row.values[i];
    }
  }
  if (holds_any(row.values)) {
    table.rows.push_back(std::move(row));
  }
}

void Teller::tell_beginning() {
  const Marks marks = first_marks(logs_);
  begin_section("Before the step", marks);
  ElementTable table = {.first = 0,
                        .last = story_.columns.size(),
                        .shows_chunks = strategy_.optimizer == Placement::sharded,
                        .rows = {}};
  std::vector<std::string> zeros;
  for (std::size_t i = 0; i < kStateCategoryCount; ++i) {
    if (holds_only_zeros(marks, i)) {
      zeros.emplace_back(1, kStateLetters[i]);
      continue;
    }
    add_rows(table, kStateLetters[i], [&](int rank) {
      return layout_.spread_state(marks[static_cast<std::size_t>(rank)]->states[i], rank);
    });
  }
  add(std::move(table));
  if (!zeros.empty()) {
    add("Held too: " + listed(zeros) + ", all 0.");
  }
}

// What is computed before the first collective is a section, the rest the end of one.
void Teller::tell_kernels() {
  std::string text;
  for (const std::string& sentence : compute_sentences(kernels_, scenario_, logs_)) {
    text += (text.empty() ? "" : " ") + sentence;
  }
  kernels_.clear();
  if (text.empty()) {
    return;
  }
  if (collectives_ == 0) {
    begin_section("Forward and backward", fullest_marks(logs_));
  }
  add(text);
}

// Round by round, and in a round by sender.
void Teller::add_hops(ElementTable& table, char state, const Marks& marks) {
  std::vector<ElementRow> rows;
  for (int rank = 0; rank < world_size(); ++rank) {
    const CollectiveLog& log = *marks[static_cast<std::size_t>(rank)]->collective;
    for (const SentChunk& sent : log.sent) {
      const Hop hop = {.round = sent.round,
                       .from = rank,
                       .to = sent.to.peer,
                       .chunk = sent.to.chunk,
                       .adds = sent.adds};
      rows.push_back({.state = state,
                      .holder = Holder::one,
                      .rank = rank,
                      .hop = hop,
                      .values = layout_.spread_chunk(log, hop.chunk, sent.values)});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ElementRow& a, const ElementRow& b) {
    return a.hop->round < b.hop->round;
  });
  std::move(rows.begin(), rows.end(), std::back_inserter(table.rows));
}

void Teller::tell_collective() {
  const Marks marks = collective_marks(logs_, collectives_++);
  const CollectiveLog& first = *marks.front()->collective;
  const bool gathers = first.operation == Operation::all_gather;
  const char state = letter(gathers ? Category::parameters : Category::gradients);
  const auto log_of = [&](int rank) -> const CollectiveLog& {
    return *marks[static_cast<std::size_t>(rank)]->collective;
  };
  const auto [begin, end] = layout_.columns_of(first);
  ElementTable table = {.first = begin, .last = end, .shows_chunks = true, .rows = {}};
  add_rows(table, state,
           [&](int rank) { return layout_.spread_chunks(log_of(rank), log_of(rank).before); });
  add_hops(table, state, marks);
  add_rows(table, state,
           [&](int rank) { return layout_.spread_chunks(log_of(rank), log_of(rank).after); });

  const std::string title = collective_title(*marks.front());
  const auto same = std::find_if(told_.begin(), told_.end(),
                                 [&](const auto& other) { return other.first == table; });
  if (same != told_.end()) {
    begin_section(title + ", the numbers of " + std::to_string(same->second), marks);
  } else {
    begin_section(title, marks);
    told_.emplace_back(table, story_.sections.size());
    add(std::move(table));
  }
  add(wire_sentence(marks));
}

void Teller::tell_adam() {
  const Marks before = kernel_marks(logs_, "adam");
  Marks after = before;
  for (const Moment*& moment : after) {
    ++moment;
  }
  begin_section("Optimizer: Adam", before);
  ElementTable table = {.first = 0,
                        .last = story_.columns.size(),
                        .shows_chunks = strategy_.optimizer == Placement::sharded,
                        .rows = {}};
  add_owned(table, Category::gradients, before);
  for (const Category state : {Category::first_moment, Category::second_moment,
                               Category::master_weights, Category::parameters}) {
    add_owned(table, state, after);
  }
  add(adam_sentence(scenario_.training, step_));
  add(std::move(table));
}

void Teller::tell_sums() {
  const Marks ends = last_marks(logs_);
  ledger_.push_back({"end", ends});
  story_.sections.push_back({.title = "Bytes on each rank, by section", .blocks = {}});
  add(ledger_table(ledger_));
  const auto end = [&](int rank) -> const Moment& { return *ends[static_cast<std::size_t>(rank)]; };
  add("Model states by formula: " + memory_formula(strategy_, scenario_) +
      "; held: " + bytes_per_rank(world_size(), [&](int rank) { return state_bytes(end(rank)); }) +
      ". The most ever held: " +
      bytes_per_rank(world_size(), [&](int rank) { return log(rank).peak_bytes; }) + ".");
  add("Sent by formula: " + wire_formula(strategy_, scenario_) + "; sent: " +
      bytes_per_rank(world_size(), [&](int rank) { return end(rank).sent_bytes; }) + ".");
}

}  // namespace

Story tell(const Scenario& scenario, const Strategy& strategy, std::int64_t step,
           const std::vector<StepLog>& logs) {
  return Teller(scenario, strategy, step, logs).tell();
}

}  // namespace shardscope
