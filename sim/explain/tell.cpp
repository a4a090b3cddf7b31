#include "sim/explain/tell.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "core/check.h"
#include "sim/explain/formula_text.h"
#include "sim/explain/layout.h"
#include "sim/explain/ledger_table.h"
#include "sim/explain/marks.h"
#include "sim/explain/moved_elements.h"
#include "sim/explain/number_text.h"
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
         const std::vector<StepLog>& logs, const CollectivePlanner& planner)
      : scenario_(scenario),
        strategy_(strategy),
        planner_(planner),
        step_(step),
        logs_(logs),
        layout_(strategy, scenario.model, scenario.world_size),
        moved_(moved_elements(scenario, strategy, layout_, step == 1, logs.front())) {}

  Story tell();

 private:
  using Values = Layout::Values;

  int world_size() const { return scenario_.world_size; }
  const StepLog& log(int rank) const { return logs_[static_cast<std::size_t>(rank)]; }

  void begin_section(const std::string& title, const Marks& marks);
  void add(Block block) { story_.sections.back().blocks.push_back(std::move(block)); }
  void add_rows(ElementTable& table, char state, const std::function<Values(int rank)>& values);
  void add_owned(ElementTable& table, Category state, const Marks& marks);
  Values spread(const std::vector<std::vector<float>>& chunks, const MovedElements& moved,
                int rank) const;
  Values spread(const SentMessage& sent, const Chunking& chunking,
                const std::vector<std::vector<std::size_t>>& columns) const;
  static Hop hop_of(const SentMessage& sent, int from, const Chunking& chunking);
  Values contributed(const CollectiveLog& log, const MovedElements& moved, int rank) const;
  void add_hops(ElementTable& table, char state, const Marks& marks, const MovedElements& moved);
  ElementTable collective_table(const Marks& marks, const MovedElements& moved);
  bool updates_shards() const { return strategy_.optimizer == Placement::sharded; }
  void tell_beginning();
  void tell_kernels();
  void tell_collective();
  void tell_control(const Marks& marks);
  void tell_check(const Moment& moment);
  void tell_adam();
  void tell_loss_scale();
  void tell_sums();

  const Scenario& scenario_;
  const Strategy& strategy_;
  const CollectivePlanner& planner_;
  std::int64_t step_;
  const std::vector<StepLog>& logs_;
  Layout layout_;
  std::vector<MovedElements> moved_;  // By collective.
  Story story_;
  std::vector<LedgerColumn> ledger_;
  std::vector<const Moment*> kernels_;   // Of rank 0, not told yet.
  std::size_t collectives_ = 0;          // Told.
  std::vector<std::size_t> section_of_;  // By collective, counted from 1.
  bool told_adam_ = false;
  std::vector<std::pair<ElementTable, std::size_t>> told_;  // And in which section.
};

Story Teller::tell() {
  story_.title = std::string(strategy_.name) + ", step " + std::to_string(step_) + " of " +
                 std::to_string(scenario_.training.steps);
  story_.about = about(strategy_, scenario_);
  story_.columns = layout_.columns();
  tell_beginning();
  for (const Moment& moment : logs_.front().moments) {
    if (moment.collective.has_value()) {
      tell_kernels();
      tell_collective();
    } else if (moment.kernel == "norm" || moment.kernel == "overflow") {
      tell_kernels();
      tell_check(moment);
    } else if (moment.kernel == "adam") {
      tell_kernels();
      tell_adam();
    } else if (!moment.kernel.empty() || moment.waits_for.has_value()) {
      kernels_.push_back(&moment);
    }
  }
  tell_kernels();
  tell_loss_scale();
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
  ElementRow row = {.state = letter(state),
                    .holder = updates_shards() ? Holder::own : Holder::all,
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
                        .chunks = updates_shards() ? layout_.owners() : std::vector<std::size_t>(),
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
  for (const std::string& sentence :
       compute_sentences({kernels_, scenario_, strategy_, logs_, section_of_})) {
    text += (text.empty() ? "" : " ") + sentence;
  }
  kernels_.clear();
  if (text.empty()) {
    return;
  }
  if (story_.sections.size() == 1) {
    begin_section("Forward and backward", fullest_marks(logs_));
  }
  add(text);
}

// Chunks that are empty are left out.
Teller::Values Teller::spread(const std::vector<std::vector<float>>& chunks,
                              const MovedElements& moved, int rank) const {
  Values values(story_.columns.size());
  const auto& columns = moved.columns[static_cast<std::size_t>(rank)];
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    SHARDSCOPE_CHECK(chunks[c].empty() || chunks[c].size() == columns[c].size(),
                     "a chunk of another size than its elements'");
    for (std::size_t i = 0; i < chunks[c].size(); ++i) {
      values[columns[c][i]] = chunks[c][i];
    }
  }
  return values;
}

// Of a broadcast only the root's mean something.
Teller::Values Teller::contributed(const CollectiveLog& log, const MovedElements& moved,
                                   int rank) const {
  return moved.root.has_value() && *moved.root != rank ? Values(story_.columns.size())
                                                       : spread(log.before, moved, rank);
}

// Which chunks a message has elements of.
Hop Teller::hop_of(const SentMessage& sent, int from, const Chunking& chunking) {
  Hop hop = {.round = sent.round,
             .from = from,
             .to = sent.to,
             .chunks = {},
             .has_whole = true,
             .adds = sent.adds};
  std::map<int, std::size_t> elements;  // By chunk.
  for (const Range& range : sent.ranges) {
    for (std::size_t e = range.offset; e < range.offset + range.count; ++e) {
      ++elements[static_cast<int>(e / chunking.chunk)];
    }
  }
  for (const auto& [chunk, count] : elements) {
    hop.chunks.push_back(chunk);
    hop.has_whole = hop.has_whole && count == chunking.size(chunk);
  }
  return hop;
}

Teller::Values Teller::spread(const SentMessage& sent, const Chunking& chunking,
                              const std::vector<std::vector<std::size_t>>& columns) const {
  Values values(story_.columns.size());
  auto value = sent.values.begin();
  for (const Range& range : sent.ranges) {
    for (std::size_t e = range.offset; e < range.offset + range.count; ++e) {
      values[columns[e / chunking.chunk][e % chunking.chunk]] = *value++;
    }
  }
  return values;
}

// Round by round, and in a round by sender; where a rank takes several, in its order.
void Teller::add_hops(ElementTable& table, char state, const Marks& marks,
                      const MovedElements& moved) {
  struct Row {
    std::size_t place;
    ElementRow row;
  };
  std::map<int, std::vector<Row>> rounds;
  for (int rank = 0; rank < world_size(); ++rank) {
    const CollectiveLog& log = *marks[static_cast<std::size_t>(rank)]->collective;
    const auto& columns = moved.columns[static_cast<std::size_t>(rank)];
    for (const SentMessage& sent : log.sent) {
      rounds[sent.round].push_back({.place = sent.place,
                                    .row = {.state = state,
                                            .holder = Holder::one,
                                            .rank = rank,
                                            .hop = hop_of(sent, rank, log.chunking),
                                            .values = spread(sent, log.chunking, columns)}});
    }
  }
  for (auto& [round, rows] : rounds) {
    std::map<int, std::vector<Row>> taken;  // By receiver, the last one first.
    for (const Row& row : rows) {
      taken[row.row.hop->to].push_back(row);
    }
    for (auto& [receiver, theirs] : taken) {
      std::sort(theirs.begin(), theirs.end(),
                [](const Row& a, const Row& b) { return a.place > b.place; });
    }
    for (const Row& row : rows) {
      std::vector<Row>& theirs = taken[row.row.hop->to];
      table.rows.push_back(std::move(theirs.back().row));
      theirs.pop_back();
    }
  }
}

// From the first to the last column that is moved. What is not moved is in no chunk.
ElementTable Teller::collective_table(const Marks& marks, const MovedElements& moved) {
  ElementTable table = {
      .first = story_.columns.size(),
      .last = 0,
      .chunks = std::vector<std::size_t>(story_.columns.size(), story_.columns.size()),
      .rows = {}};
  for (const auto& chunks : moved.columns) {
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      for (const std::size_t column : chunks[c]) {
        table.chunks[column] = c;
        table.first = std::min(table.first, column);
        table.last = std::max(table.last, column + 1);
      }
    }
  }
  const char state = letter(moved.is_of_parameters() ? Category::parameters : Category::gradients);
  const auto log_of = [&](int rank) -> const CollectiveLog& {
    return *marks[static_cast<std::size_t>(rank)]->collective;
  };
  add_rows(table, state, [&](int rank) { return contributed(log_of(rank), moved, rank); });
  add_hops(table, state, marks, moved);
  add_rows(table, state, [&](int rank) { return spread(log_of(rank).after, moved, rank); });
  return table;
}

void Teller::tell_collective() {
  const MovedElements& moved = moved_[collectives_];
  const Marks marks = collective_marks(logs_, collectives_++);
  if (moved.kind == MovedElements::Kind::control) {
    section_of_.push_back(story_.sections.size());
    tell_control(marks);
    return;
  }
  ElementTable table = collective_table(marks, moved);
  const std::string title = collective_title(*marks.front(), moved, strategy_);
  const auto same = std::find_if(told_.begin(), told_.end(),
                                 [&](const auto& other) { return other.first == table; });
  if (same != told_.end()) {
    begin_section(title + ", the numbers of " + std::to_string(same->second), marks);
  } else {
    begin_section(title, marks);
    told_.emplace_back(table, story_.sections.size());
    add(std::move(table));
  }
  section_of_.push_back(story_.sections.size());
  add(wire_sentence(marks, moved));
}

// Of one number on each rank, summed in each group of ranks.
void Teller::tell_control(const Marks& marks) {
  const int group_size = marks.front()->collective->group.size;
  std::vector<std::string> sums;
  for (const Moment* first : marks) {
    const RankGroup& group = first->collective->group;
    if (marks[static_cast<std::size_t>(group.first)] != first) {
      continue;
    }
    std::vector<std::string> parts;
    for (int member = 0; member < group.size; ++member) {
      const Moment& moment = *marks[static_cast<std::size_t>(group.world_rank(member))];
      parts.push_back(number_text(moment.collective->before.front().front()));
    }
    sums.push_back(listed(parts) + ": " + number_text(first->collective->after.front().front()));
  }
  const bool is_whole = static_cast<std::size_t>(group_size) == marks.size();
  std::string text = is_whole ? "An all_reduce adds what the ranks have, "
                              : "In each group of " + std::to_string(group_size) +
                                    " ranks an all_reduce adds what they have; ";
  for (const std::string& sum : sums) {
    text += (&sum == &sums.front() ? "" : "; ") + sum;
  }
  add(text + ". Its bytes are counted apart.");
}

// The kernel that looks at all gradients before the update.
void Teller::tell_check(const Moment& moment) {
  const bool clips = moment.kernel == "norm";
  begin_section(
      clips ? "Optimizer: the norm of the gradients" : "Optimizer: do gradients overflow?",
      kernel_marks(logs_, moment.kernel));
  add(clips ? std::string("Each rank adds the squares of the elements that it looks at.")
            : std::string("Each rank looks for elements that are infinite or NaN: 1 if it has one, "
                          "else 0."));
}

// In several parts where gradients are copied to fp32 part by part; told once.
void Teller::tell_adam() {
  if (told_adam_) {
    return;
  }
  told_adam_ = true;
  const Marks before = update_marks(logs_);
  const Marks after = updated_marks(logs_);
  begin_section("Optimizer: Adam", before);
  ElementTable table = {.first = 0,
                        .last = story_.columns.size(),
                        .chunks = updates_shards() ? layout_.owners() : std::vector<std::size_t>(),
                        .rows = {}};
  add_owned(table, Category::gradients, before);
  for (const Category state : {Category::first_moment, Category::second_moment,
                               Category::master_weights, Category::parameters}) {
    add_owned(table, state, after);
  }
  if (const std::string clipping = clip_sentence(scenario_, strategy_, log(0)); !clipping.empty()) {
    add(clipping);
  }
  add(adam_sentence(scenario_.training, log(0)));
  add(std::move(table));
}

void Teller::tell_loss_scale() {
  if (const std::string sentence = loss_scale_sentence(scenario_.training, log(0));
      !sentence.empty()) {
    if (log(0).skipped) {
      begin_section("Optimizer: the step is skipped", last_marks(logs_));
    }
    add(sentence);
  }
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
  add("Sent by formula: " +
      wire_formula(strategy_, scenario_, {.is_first = step_ == 1, .skipped = log(0).skipped},
                   planner_) +
      "; sent: " + bytes_per_rank(world_size(), [&](int rank) { return end(rank).sent_bytes; }) +
      ".");
}

}  // namespace

Story tell(const Scenario& scenario, const Strategy& strategy, std::int64_t step,
           const std::vector<StepLog>& logs, const CollectivePlanner& planner) {
  return Teller(scenario, strategy, step, logs, planner).tell();
}

}  // namespace shardscope
