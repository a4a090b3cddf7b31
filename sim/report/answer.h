// What the results say in plain sentences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/summary.h"

namespace shardscope {

struct Scenario;
class RunResult;

/// Which completed strategy is fastest and which needs least memory, with their figures: one or two
/// sentences. `summaries` are those of the runs, in their order.
std::vector<std::string> answer(const std::vector<RunResult>& runs,
                                const std::vector<RunSummary>& summaries);

/// Which runs have a loss that is no finite number, and from which step on.
std::optional<std::string> divergence(const std::vector<RunResult>& runs);

/// Which runs skipped steps because gradients overflowed, and which steps: a sentence for those
/// that skipped the same ones.
std::vector<std::string> skipped_sentences(const std::vector<RunResult>& runs,
                                           const std::vector<RunSummary>& summaries);

/// The checkpoints that runs went on from, each with the strategies that did.
std::vector<std::string> resumed_sentences(const std::vector<RunResult>& runs);

/// What happened to a run that did not complete: who wanted what when, and how much was free.
std::string mishap(const Scenario& scenario, const RunResult& run);

}  // namespace shardscope
