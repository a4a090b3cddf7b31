#include "sim/plan/plan_text.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/report/cluster_text.h"
#include "sim/report/format.h"
#include "sim/report/model_text.h"
#include "sim/report/page.h"
#include "sim/text/printable.h"
#include "sim/topology_files/simgrid_settings.h"

namespace shardscope {
namespace {

const PlanPoint& first_point(const Plan& plan, int ranks) {
  return *std::find_if(plan.points.begin(), plan.points.end(),
                       [&](const PlanPoint& point) { return point.ranks == ranks; });
}

std::string figure(double value, const Unit& unit) { return significant(value / unit.size); }

constexpr std::size_t kMostFitting = 12;
constexpr std::size_t kMostOthers = 6;

// How the candidates on a number of ranks are shown.
struct Layout {
  Unit time;
  Unit bytes;
  Unit wire;
  bool between_nodes;  // Some bytes go there.
  bool accumulates;    // In some.

  std::size_t columns() const { return between_nodes ? 12 : 11; }
};

Layout layout_of(const Plan& plan, int ranks) {
  double longest_s = 0;
  double most_sent = 0;
  bool between_nodes = false;
  bool accumulates = false;
  for (const PlanRow& row : plan.rows) {
    if (plan.point_of(row).ranks == ranks) {
      accumulates = accumulates || plan.point_of(row).accumulation > 1;
    }
    if (plan.point_of(row).ranks == ranks && row.completed()) {
      longest_s = std::max(longest_s, row.step_s());
      most_sent = std::max(most_sent, static_cast<double>(sent_bytes(plan, row)));
      between_nodes = between_nodes || sent_between_nodes_bytes(plan, row) > 0;
    }
  }
  return {time_unit(longest_s),
          byte_unit(static_cast<double>(first_point(plan, ranks).scenario.device.memory_bytes)),
          byte_unit(most_sent), between_nodes, accumulates};
}

std::string misfit(const PlanRow& row, double memory, const Unit& unit) {
  if (row.figures.outcome() == "failed") {
    return "failed";
  }
  return "+" + figure(static_cast<double>(peak_bytes(row)) - memory, unit);
}

bool is_recommended(const Plan& plan, std::size_t index) {
  return std::any_of(plan.recommendations.begin(), plan.recommendations.end(),
                     [&](const Recommendation& choice) { return choice.row == index; });
}

void add_row(const Plan& plan, std::size_t index, const Layout& layout, Table& table) {
  const PlanRow& row = plan.rows[index];
  const PlanPoint& point = plan.point_of(row);
  const auto memory = static_cast<double>(point.scenario.device.memory_bytes);
  std::vector<std::string> cells = {
      std::string(row.strategy.name) + " " + std::to_string(point.micro_batch) +
          (layout.accumulates ? "x" + std::to_string(point.accumulation) : "") +
          (point.recompute ? "r" : "") + (is_of_config(plan, row) ? " =" : "") +
          (is_recommended(plan, index) ? " *" : ""),
      figure(static_cast<double>(peak_bytes(row)), layout.bytes)};
  if (!row.completed()) {
    cells.push_back(misfit(row, memory, layout.bytes));
    cells.resize(layout.columns(), "-");
    table.add_row(std::move(cells));
    return;
  }
  const TimeSplit& time = row.figures.time();
  const std::uint64_t between = sent_between_nodes_bytes(plan, row);
  const std::uint64_t inside = sent_bytes(plan, row) - between;
  for (const std::string& cell :
       {std::string("fits"),
        format_count(static_cast<std::uint64_t>(std::llround(tokens_per_s(plan, row)))),
        format_percent(model_flops_utilization(plan, row)), figure(row.step_s(), layout.time),
        figure(time.exposed_communication_s(), layout.time), figure(time.forward_s(), layout.time),
        figure(time.backward_s(), layout.time), figure(time.optimizer_s(), layout.time),
        figure(static_cast<double>(inside), layout.wire)}) {
    cells.push_back(cell);
  }
  if (layout.between_nodes) {
    cells.push_back(figure(static_cast<double>(between), layout.wire));
  }
  table.add_row(std::move(cells));
}

// What the table does not show.
std::string left_out(std::size_t fitting, std::size_t others) {
  std::vector<std::string> parts;
  if (fitting > 0) {
    parts.push_back(std::to_string(fitting) + " slower ones that fit");
  }
  if (others > 0) {
    parts.push_back(std::to_string(others) + " that lack more");
  }
  return parts.empty() ? "" : "Not shown, but in --json: " + listed(parts) + ". ";
}

// Rows of a step, where all candidates train on as many, and how long they are.
std::string batch_text(const Plan& plan, int ranks) {
  const std::size_t batch = first_point(plan, ranks).scenario.training.global_batch;
  const bool is_same = std::all_of(plan.points.begin(), plan.points.end(), [&](const auto& point) {
    return point.ranks != ranks || point.scenario.training.global_batch == batch;
  });
  const auto& transformer = first_point(plan, ranks).scenario.model.transformer;
  return (is_same ? ", global batch " + format_count(batch) : "") +
         (transformer.has_value() ? ", rows of " + format_count(transformer->sequence) + " tokens"
                                  : "");
}

void write_table(const Plan& plan, int ranks, Page& page) {
  const Layout layout = layout_of(plan, ranks);
  const std::string bytes(layout.bytes.name);
  const std::string time(layout.time.name);
  const std::string wire(layout.wire.name);
  Table table;
  table.add_column(layout.accumulates ? "strategy, micro-batch x\nmicro-steps, r: recomputes"
                                      : "strategy, micro-batch,\nr: recomputes",
                   Align::left);
  for (const std::string& title :
       {"peak,\n" + bytes, std::string(), unit_of_rows(plan) + "\nper s", std::string("MFU"),
        "step,\n" + time, "exposed,\n" + time, "forward,\n" + time, "back-\nward, " + time,
        "opti-\nmizer, " + time, "sent in\nnode, " + wire}) {
    table.add_column(title, Align::right);
  }
  if (layout.between_nodes) {
    table.add_column("between\nnodes, " + wire, Align::right);
  }
  std::size_t fitting = 0;
  std::size_t others = 0;
  std::size_t hidden_fitting = 0;
  std::size_t hidden_others = 0;
  bool has_recommended = false;
  bool has_configured = false;
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    const PlanRow& row = plan.rows[i];
    if (plan.point_of(row).ranks != ranks) {
      continue;
    }
    has_recommended = has_recommended || is_recommended(plan, i);
    has_configured = has_configured || is_of_config(plan, row);
    const bool is_shown = row.completed() ? fitting++ < kMostFitting : others++ < kMostOthers;
    if (is_shown || is_of_config(plan, row) || is_recommended(plan, i)) {
      add_row(plan, i, layout, table);
    } else {
      ++(row.completed() ? hidden_fitting : hidden_others);
    }
  }
  const Scenario& scenario = first_point(plan, ranks).scenario;
  page.section(
      "Candidates on " + plural(static_cast<std::size_t>(ranks), "rank") + batch_text(plan, ranks),
      table,
      left_out(hidden_fitting, hidden_others) +
          (has_recommended ? "* Recommended: the fastest; of those within 1 % one that recomputes "
                             "nothing, then the one that holds least. "
                           : "") +
          (has_configured ? "= What the configuration asks for. " : "") + "Each device has " +
          format_bytes(static_cast<double>(scenario.device.memory_bytes)) +
          "; + is what a candidate lacks. Step: of the last rank, simulated, exposed to "
          "optimizer its parts; exposed: waits for communication. MFU: model flops of the "
          "step over the devices' peak. Sent: per rank and step, the mean.");
}

const char* origin_text(Origin origin) {
  switch (origin) {
    case Origin::given:
      return "";
    case Origin::by_default:
      return " (default)";
    case Origin::resolved:
      return " (auto)";
    case Origin::derived:
      return "";  // The equation says it.
  }
  return "";
}

const char* effect_text(Effect effect) {
  switch (effect) {
    case Effect::modelled:
      return "Simulated";
    case Effect::none:
      return "Without effect on time and memory";
    case Effect::not_modelled:
      return "Not modelled";
    case Effect::unknown:
      return "Ignored by the framework";
  }
  return "";
}

void write_understood(const Plan& plan, Page& page) {
  if (plan.config_file.empty()) {
    return;
  }
  page.heading("What was understood of " + printable(plan.config_file));
  for (const Effect effect :
       {Effect::unknown, Effect::modelled, Effect::not_modelled, Effect::none}) {
    bool is_first = true;
    for (const ConfigItem& item : plan.understood) {
      if (item.effect != effect) {
        continue;
      }
      if (is_first) {
        page.paragraph(std::string(effect_text(effect)) + ":", Style::plain, 2);
        is_first = false;
      }
      page.paragraph(printable(item.key) + " = " + printable(item.value) +
                         origin_text(item.origin) + ": " + item.meaning,
                     Style::plain, 4);
    }
  }
}

// Of candidates whose micro-steps were not all simulated.
std::string repetition_text(const Plan& plan) {
  std::int64_t most = 0;
  std::size_t repeated = 0;
  std::size_t simulated = 0;
  for (const PlanRow& row : plan.rows) {
    if (!row.completed()) {
      continue;
    }
    const std::int64_t count = row.figures.simulated_micro_steps();
    const bool is_repeated = count < static_cast<std::int64_t>(plan.point_of(row).accumulation);
    most = is_repeated ? std::max(most, count) : most;
    ++(is_repeated ? repeated : simulated);
  }
  if (repeated == 0) {
    return {};
  }
  return (simulated == 0 ? "of" : "of " + plural(repeated, "candidate") + ", ") + " up to " +
         std::to_string(most) +
         " micro-steps were simulated, and grow the step by the same: those beyond are counted";
}

// Which ranks the network is of, if there are several numbers of them.
std::string ranks_text(const Plan& plan) {
  const int most = plan.points.back().ranks;
  return plan.points.front().ranks == most
             ? ""
             : "of " + plural(static_cast<std::size_t>(most), "rank") + ": ";
}

void write_assumptions(const Plan& plan, Page& page) {
  const Scenario& scenario = plan.points.back().scenario;  // Of the most ranks.
  page.heading("Assumptions");
  page.entry("model", model_text(scenario.model, "") + ", " +
                          format_count(scenario.model.parameters()) + " parameters");
  for (const std::string& note : scenario.model_notes) {
    page.entry("", printable(note));
  }
  page.entry("network", ranks_text(plan) + network_text(scenario.cluster));
  write_file(scenario.cluster, page);
  page.entry("device", (scenario.device.preset.empty() ? "" : scenario.device.preset + ": ") +
                           format_flops_per_s(scenario.device.peak_flops_per_s) + " x " +
                           significant(scenario.device.compute_efficiency) + ", " +
                           format_bytes_per_s(scenario.device.memory_bandwidth_bytes_per_s) +
                           " x " + significant(scenario.device.memory_efficiency));
  page.entry("numbers", std::string(name(scenario.training.precision)) + " parameters, " +
                            collectives_text(scenario.cluster.collective));
  if (scenario.training.optimizer_on_host) {
    page.entry("host",
               "holds the optimizer; " + format_bytes_per_s(scenario.host.link_bytes_per_s) +
                   " to a device and back, " +
                   format_count(static_cast<std::uint64_t>(scenario.host.adam_parameters_per_s)) +
                   " parameters updated per second and node");
  }
  if (scenario.cluster.collective.fidelity == Fidelity::flow) {
    page.entry("flows",
               "exact where links are equal and ranks come together, elsewhere some "
               "percent off; cluster.collective.fidelity: MESSAGE is the other way");
  }
  if (const std::string repeated = repetition_text(plan); !repeated.empty()) {
    page.entry("steps", repeated);
  }
  page.entry("SimGrid", simgrid_text(simgrid_settings()));
  for (const std::string& reason : plan.left_out) {
    page.entry("left out", reason);
  }
}

}  // namespace

std::string plan_text(const Plan& plan, bool colour, std::size_t width) {
  Page page(colour, width);
  for (const Recommendation& recommendation : plan.recommendations) {
    std::string text = plural(static_cast<std::size_t>(recommendation.ranks), "rank") + ": ";
    Style style = Style::bold;
    for (const std::string& reason : recommendation.reasons) {
      page.paragraph(text + reason, style, style == Style::bold ? 0 : 2);
      text.clear();
      style = Style::plain;
    }
  }
  for (const Recommendation& recommendation : plan.recommendations) {
    write_table(plan, recommendation.ranks, page);
  }
  write_understood(plan, page);
  write_assumptions(plan, page);
  return page.text();
}

}  // namespace shardscope
