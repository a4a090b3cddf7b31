#include "sim/report/text_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/report/answer.h"
#include "sim/report/compared_runs.h"
#include "sim/report/format.h"
#include "sim/report/model_text.h"
#include "sim/report/page.h"
#include "sim/report/sections.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

void write_answer(const ComparedRuns& compared, Page& page) {
  if (const std::optional<std::string> sentence = divergence(compared.runs)) {
    page.paragraph(*sentence, Style::red);
  }
  std::string title = printable(compared.scenario.name) + ": ";
  for (const std::string& sentence : answer(compared.runs, compared.summaries)) {
    page.paragraph(title + sentence, Style::bold);
    title.clear();
  }
  for (const std::string& sentence : skipped_sentences(compared.runs, compared.summaries)) {
    page.paragraph(sentence);
  }
  for (const RunResult& run : compared.runs) {
    if (run.outcome() != "completed") {
      page.paragraph(mishap(compared.scenario, run), Style::red);
    }
  }
}

/// What was run, in one sentence.
std::string setting(const ComparedRuns& compared) {
  const Scenario& scenario = compared.scenario;
  const TrainingOptions& training = scenario.training;
  const std::string parameters =
      compared.runs.empty() ? ""
                            : format_count(compared.runs.front().parameters()) + " parameters, ";
  const std::string arithmetic =
      training.storage == Storage::real ? "" : ", shapes only (no arithmetic, no losses)";
  return model_text(scenario.model, std::string(1, kSoftBreak)) + ", " + parameters +
         std::string(name(training.precision)) + ", global batch " +
         format_count(training.global_batch) + ", steps " + format_count(training.steps) +
         ", ranks " + format_count(static_cast<std::uint64_t>(scenario.world_size)) + arithmetic +
         ".";
}

}  // namespace

std::string text_report(const Scenario& scenario, const std::vector<RunResult>& runs,
                        const ReportContext& context, const TextReportOptions& options) {
  const ComparedRuns compared = compare(scenario, runs);
  Page page(options.colour, options.width);
  write_answer(compared, page);
  page.empty_line();
  page.paragraph(setting(compared));
  for (const std::string& sentence : resumed_sentences(compared.runs)) {
    page.paragraph(sentence);
  }
  write_time(compared, page);
  write_cluster(compared, page);
  if (context.critical_path) {
    write_critical_path(compared, page);
  }
  write_memory(compared, page);
  write_wire(compared, page);
  if (!options.quiet) {
    write_steps(compared, page);
  }
  write_assumptions(compared, context, page);
  return page.text();
}

}  // namespace shardscope
