// The report for people: the answer first, then a table per question, then what it rests on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/report/context.h"
#include "sim/report/table.h"

namespace shardscope {

struct Scenario;
class RunResult;

struct TextReportOptions {
  bool colour = false;  ///< ANSI escapes; for terminals only.
  bool quiet = false;   ///< The summary alone, without the tables of every step.
  std::size_t width = kReportWidth;
};

/// At most so many columns wide as tables allow, ends with a newline. Figures have three
/// significant digits, those it rests on four; the JSON report has all of them.
std::string text_report(const Scenario& scenario, const std::vector<RunResult>& runs,
                        const ReportContext& context, const TextReportOptions& options);

}  // namespace shardscope
