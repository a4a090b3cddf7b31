#include "sim/report/text_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string_view>
#include <utility>

#include "core/tensor/ledger.h"
#include "sim/report/answer.h"
#include "sim/report/format.h"
#include "sim/report/limits.h"
#include "sim/report/summary.h"
#include "sim/report/table.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

/// Categories as the memory table names them, in the ledger's order.
constexpr std::array<std::string_view, kCategoryCount> kShortNames = {
    "parameters",  "gradients", "master",  "moment 1", "moment 2",
    "activations", "gathered",  "buckets", "inputs"};

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kPlain = "\x1b[0m";

std::string in_unit(double value, const Unit& unit) { return significant(value / unit.size); }

/// Figures side by side in a cell, "0.789|0.789", so aligned that the bars of a column stand one
/// below the other.
class Pairs {
 public:
  void add(std::string left, std::string right) {
    left_width_ = std::max(left_width_, left.size());
    right_width_ = std::max(right_width_, right.size());
    pairs_.emplace_back(std::move(left), std::move(right));
  }

  std::string cell(std::size_t index) const {
    const auto& [left, right] = pairs_[index];
    return std::string(left_width_ - left.size(), ' ') + left + (right.empty() ? " " : "|") +
           std::string(right_width_ - right.size(), ' ') + right;
  }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
  std::size_t left_width_ = 0;
  std::size_t right_width_ = 0;
};

class TextReport {
 public:
  TextReport(const Scenario& scenario, const std::vector<RunResult>& runs,
             const ReportContext& context, const TextReportOptions& options)
      : scenario_(scenario), runs_(runs), context_(context), options_(options) {
    for (const RunResult& run : runs) {
      summaries_.push_back(summarize(run));
    }
  }

  std::string text() {
    opening();
    time_section();
    limits_section();
    memory_section();
    wire_section();
    if (!options_.quiet) {
      step_sections();
    }
    closing();
    return std::move(text_);
  }

 private:
  void opening() {
    for (const std::string& sentence : answer(scenario_, runs_, summaries_)) {
      paragraph(sentence, kBold);
    }
    for (const RunResult& run : runs_) {
      if (run.outcome() != "completed") {
        paragraph(mishap(scenario_, run), kRed);
      }
    }
    text_ += "\n";
    paragraph(setting());
  }

  std::string setting() const {
    const TrainingOptions& training = scenario_.training;
    std::string widths;
    for (const std::size_t width : scenario_.model.widths) {
      widths += (widths.empty() ? "" : "-") + std::to_string(width);
    }
    const std::string parameters =
        runs_.empty() ? "" : format_count(runs_.front().parameters()) + " parameters, ";
    const std::string arithmetic =
        training.storage == Storage::real ? "" : ", shapes only (no arithmetic, no losses)";
    return "Layers " + widths + ", " + parameters + std::string(name(training.precision)) +
           ", global batch " + format_count(training.global_batch) + ", steps " +
           format_count(training.steps) + ", ranks " +
           format_count(static_cast<std::uint64_t>(scenario_.world_size)) + arithmetic + ".";
  }

  void time_section() {
    double longest = 0;
    for (const RunSummary& summary : summaries_) {
      longest = std::max(longest, summary.completed ? summary.mean.wall_s : 0);
    }
    const Unit unit = time_unit(longest);
    Table table =
        strategy_table({"wall", "forward", "backward", "optimizer", "exposed", "of wall", "busy"});
    for_completed([&](const RunResult& run, const RunSummary& summary) {
      const StepTime& mean = summary.mean;
      table.add_row({strategy(run), in_unit(mean.wall_s, unit), in_unit(mean.forward_s, unit),
                     in_unit(mean.backward_s, unit), in_unit(mean.optimizer_s, unit),
                     in_unit(mean.exposed_s, unit), format_percent(mean.exposed_s / mean.wall_s),
                     in_unit(mean.busy_s, unit)});
    });
    const std::string steps = scenario_.training.steps > 1
                                  ? "mean of steps 2 to " + format_count(scenario_.training.steps)
                                  : "step 1";
    section("Time of a step, " + std::string(unit.name) + " (" + steps + ")", table,
            "wall = forward + backward + optimizer + exposed. Exposed: compute waits for "
            "communication; busy: communication in flight, hidden or not. Each step counts the "
            "rank that finishes it last.");
  }

  void limits_section() {
    Table table;
    table.add_column("", Align::left);
    table.add_column("limited by", Align::left);
    for (const std::string title :
         {"compute", "memory\nbandwidth", "link\nbandwidth", "link\nlatency", "kernel\nlaunches"}) {
      table.add_column(title, Align::right);
    }
    for_completed([&](const RunResult& run, const RunSummary&) {
      const LimitSummary limits = summarize_limits(run);
      const LimitShare* largest = limits.largest();
      std::vector<std::string> row = {strategy(run),
                                      largest == nullptr ? "-" : std::string(largest->description)};
      for (const LimitShare& share : limits.shares) {
        row.push_back(format_percent(share.share));
      }
      table.add_row(std::move(row));
    });
    section("What limits a step (share of the wall that each alone accounts for)", table, "");
  }

  void memory_section() {
    double largest = 0;
    for (const RunSummary& summary : summaries_) {
      const double predicted = static_cast<double>(state_total(summary.memory.predicted_state));
      const double peak = static_cast<double>(summary.memory.peak_total);
      largest = std::max({largest, predicted, peak});
    }
    const Unit unit = byte_unit(largest);
    Table table;
    table.add_column("", Align::left);
    std::vector<Pairs> columns;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i].ranks_size() > 0) {
        table.add_column(strategy(runs_[i]), Align::right);
        columns.push_back(memory_column(summaries_[i], unit));
      }
    }
    if (columns.empty()) {
      return;
    }
    const std::vector<std::string> rows = memory_rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::vector<std::string> cells = {rows[i]};
      for (const Pairs& column : columns) {
        cells.push_back(column.cell(i));
      }
      table.add_row(std::move(cells));
    }
    section("Memory of the fullest rank, " + std::string(unit.name) +
                ": states measured|predicted, others at peak",
            table, memory_notes());
  }

  static std::vector<std::string> memory_rows() {
    std::vector<std::string> rows(kShortNames.begin(), kShortNames.end());
    rows.insert(rows.begin() + kStateCategoryCount, "all states");
    rows.emplace_back("peak of all");
    return rows;
  }

  /// The figures of memory_rows() for one run. What a run that did not complete held is not its
  /// state.
  static Pairs memory_column(const RunSummary& summary, const Unit& unit) {
    const FullestRank& memory = summary.memory;
    const auto figure = [&](std::uint64_t bytes) {
      return in_unit(static_cast<double>(bytes), unit);
    };
    Pairs column;
    for (std::size_t i = 0; i < kStateCategoryCount; ++i) {
      column.add(summary.completed ? figure(memory.state[i]) : "-",
                 figure(memory.predicted_state[i]));
    }
    column.add(summary.completed ? figure(state_total(memory.state)) : "-",
               figure(state_total(memory.predicted_state)));
    for (std::size_t i = kStateCategoryCount; i < kCategoryCount; ++i) {
      column.add(figure(memory.peak[i]), "");
    }
    column.add(figure(memory.peak_total), "");
    return column;
  }

  std::string memory_notes() const {
    return agreement("Model states", &RunSummary::state_difference) + "Each device has " +
           format_bytes(static_cast<double>(scenario_.device.memory_bytes)) +
           "; 1 MB = 1e6 B. Gathered: parameters gathered for a layer; buckets: communication "
           "buckets. Peaks of categories need not coincide.";
  }

  void wire_section() {
    std::uint64_t most = 0;
    for (const RunSummary& summary : summaries_) {
      most = std::max(most, summary.completed ? summary.wire.all_ranks_sent : 0);
    }
    const Unit unit = byte_unit(static_cast<double>(most));
    Table table =
        strategy_table({"sent", "predicted", "received", "per parameter", "by all ranks"});
    for_completed([&](const RunResult& run, const RunSummary& summary) {
      const auto figure = [&](std::uint64_t bytes) {
        return in_unit(static_cast<double>(bytes), unit);
      };
      const WireBytes& wire = summary.wire;
      const double per_parameter =
          static_cast<double>(wire.sent) / static_cast<double>(run.parameters());
      table.add_row({strategy(run), figure(wire.sent), figure(wire.predicted_sent),
                     figure(wire.received), significant(per_parameter) + " B",
                     figure(wire.all_ranks_sent)});
    });
    section("Wire of a step, " + std::string(unit.name) + " (the rank that sends most)", table,
            agreement("Bytes sent", &RunSummary::wire_difference));
  }

  void step_sections() {
    double longest = 0;
    for (const RunResult& run : runs_) {
      for (const StepResult& step : run.steps()) {
        longest = std::max(longest, step.time().wall_s());
      }
    }
    const Unit unit = time_unit(longest);
    if (runs_.size() == 1) {
      single_run_steps(runs_.front(), unit);
      return;
    }
    if (scenario_.training.storage == Storage::real) {
      step_table("Loss of every step", [](const StepResult& step) {
        return step.has_loss() ? loss_text(step.loss()) : "-";
      });
    }
    step_table("Time of every step, " + std::string(unit.name), [&](const StepResult& step) {
      return significant(step.time().wall_s() / unit.size, 4, 4);
    });
  }

  /// Loss and the time split side by side.
  void single_run_steps(const RunResult& run, const Unit& unit) {
    Table table;
    for (const std::string title :
         {"step", "loss", "grad norm", "wall", "forward", "backward", "optimizer", "exposed"}) {
      table.add_column(title, Align::right);
    }
    for (const StepResult& step : run.steps()) {
      const TimeSplit& time = step.time();
      const auto figure = [&](double seconds) { return significant(seconds / unit.size, 4, 4); };
      table.add_row({std::to_string(step.step()), step.has_loss() ? loss_text(step.loss()) : "-",
                     step.has_grad_norm() ? significant(step.grad_norm(), 4, 6) : "-",
                     figure(time.wall_s()), figure(time.forward_s()), figure(time.backward_s()),
                     figure(time.optimizer_s()), figure(time.exposed_communication_s())});
    }
    section("Every step: loss, and times in " + std::string(unit.name), table, "");
  }

  /// One row per step, one column per run; "-" where a run had ended.
  template <typename Cell>
  void step_table(const std::string& title, Cell cell) {
    int most_steps = 0;
    Table table;
    table.add_column("step", Align::right);
    for (const RunResult& run : runs_) {
      table.add_column(strategy(run), Align::right);
      most_steps = std::max(most_steps, run.steps_size());
    }
    for (int i = 0; i < most_steps; ++i) {
      std::vector<std::string> row = {std::to_string(i + 1)};
      for (const RunResult& run : runs_) {
        row.push_back(i < run.steps_size() ? cell(run.steps(i)) : "-");
      }
      table.add_row(std::move(row));
    }
    section(title, table, "");
  }

  /// Six significant digits, one below another where a loss is of ordinary size.
  static std::string loss_text(double loss) {
    if (!std::isfinite(loss) || loss == 0 || std::abs(loss) >= 1e-3) {
      return significant(loss, 6, 6);
    }
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.4e", loss);
    return text.data();
  }

  void closing() {
    heading("What this rests on");
    closing_line("network", network_text());
    closing_line("device", device_text());
    closing_line("compute",
                 "time of a kernel = max(flops / (peak x efficiency), bytes / (memory bandwidth x "
                 "efficiency)) + launch");
    const TrainingOptions& training = scenario_.training;
    closing_line("numbers",
                 std::string(name(training.precision)) + " parameters, gradients reduced in " +
                     std::string(name(training.reduce_precision)) + ", ring collectives, " +
                     (training.storage == Storage::real ? "arithmetic REAL" : "arithmetic NONE"));
    std::vector<std::string> settings;
    for (const auto& [key, value] : context_.simgrid_settings) {
      settings.push_back(key);
      settings.back().append(":").append(value);
    }
    if (!settings.empty()) {
      closing_line("SimGrid", joined(settings));
    }
    weights_lines();
    closing_line("scenario", "digest " + scenario_.digest);
    closing_line("program", "shardscope " + context_.version);
  }

  std::string network_text() const {
    const LinkSpec& link = scenario_.link;
    return "star, one full-duplex link of " + format_bits_per_s(link.bandwidth_bytes_per_s) + " (" +
           format_bytes_per_s(link.bandwidth_bytes_per_s) + ") and " +
           format_seconds(link.latency_s) + " per rank; a path is two links, " +
           format_seconds(2 * link.latency_s) + "; max-min fair sharing, no protocol overhead";
  }

  std::string device_text() const {
    const DeviceSpec& device = scenario_.device;
    return (device.preset.empty() ? "" : printable(device.preset) + ": ") +
           format_flops_per_s(device.peak_flops_per_s) + " x " +
           significant(device.compute_efficiency) + ", memory " +
           format_bytes(static_cast<double>(device.memory_bytes)) + " at " +
           format_bytes_per_s(device.memory_bandwidth_bytes_per_s) + " x " +
           significant(device.memory_efficiency) + ", launch " +
           format_seconds(device.launch_overhead_s);
  }

  /// Runs that end with the same weights share a line.
  void weights_lines() {
    std::vector<std::pair<std::string, std::vector<std::string>>> by_digest;
    for (const RunResult& run : runs_) {
      if (!run.has_weights_digest()) {
        continue;
      }
      const std::string digest = printable(run.weights_digest());
      const auto same = std::find_if(by_digest.begin(), by_digest.end(),
                                     [&](const auto& entry) { return entry.first == digest; });
      if (same == by_digest.end()) {
        by_digest.push_back({digest, {strategy(run)}});
      } else {
        same->second.push_back(strategy(run));
      }
    }
    for (const auto& [digest, strategies] : by_digest) {
      closing_line("weights", "digest " + digest + ": " + listed(strategies));
    }
  }

  /// "Model states equal the prediction ...", where they first do not, or nothing if no run
  /// completed.
  std::string agreement(const std::string& what,
                        std::optional<std::string> RunSummary::*difference) const {
    bool measured = false;
    for (const RunSummary& summary : summaries_) {
      measured = measured || summary.completed;
      if (summary.*difference) {
        return what + " DIFFER from the prediction: " + printable(*(summary.*difference)) + ". ";
      }
    }
    return measured ? what + " equal the prediction to the byte on every rank. " : "";
  }

  template <typename F>
  void for_completed(F&& f) const {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (summaries_[i].completed) {
        f(runs_[i], summaries_[i]);
      }
    }
  }

  static Table strategy_table(const std::vector<std::string>& titles) {
    Table table;
    table.add_column("", Align::left);
    for (const std::string& title : titles) {
      table.add_column(title, Align::right);
    }
    return table;
  }

  static std::string strategy(const RunResult& run) { return printable(run.strategy()); }

  static std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
      text += (text.empty() ? "" : ", ") + word;
    }
    return text;
  }

  /// A heading, a table and a note; nothing if the table is empty.
  void section(const std::string& title, const Table& table, const std::string& note) {
    if (table.empty()) {
      return;
    }
    heading(title);
    text_ += table.text();
    if (!note.empty()) {
      paragraph(note, kDim, 2);
    }
  }

  void heading(const std::string& title) {
    text_ += "\n";
    paragraph(title, kBold);
  }

  void paragraph(const std::string& words, std::string_view style = "", std::size_t indent = 0) {
    std::string lines = wrapped(words, kReportWidth, std::string(indent, ' '), indent);
    if (options_.colour && !style.empty()) {
      lines.pop_back();
      lines.insert(0, style).append(kPlain).append("\n");
    }
    text_ += lines;
  }

  void closing_line(const std::string& key, const std::string& value) {
    constexpr std::size_t kValueColumn = 12;
    std::string first = "  " + key;
    first.resize(kValueColumn, ' ');
    text_ += wrapped(value, kReportWidth, first, kValueColumn);
  }

  const Scenario& scenario_;
  const std::vector<RunResult>& runs_;
  const ReportContext& context_;
  const TextReportOptions& options_;
  std::vector<RunSummary> summaries_;
  std::string text_;
};

}  // namespace

std::string text_report(const Scenario& scenario, const std::vector<RunResult>& runs,
                        const ReportContext& context, const TextReportOptions& options) {
  return TextReport(scenario, runs, context, options).text();
}

}  // namespace shardscope
