#include "sim/html/run_data.h"

#include <json/json.h>

#include <cctype>
#include <map>
#include <memory>
#include <string>

#include "sim/report/answer.h"
#include "sim/report/compared_runs.h"
#include "sim/report/format.h"
#include "sim/report/json_report.h"
#include "sim/report/limits.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"

namespace shardscope {
namespace {

constexpr int kMostSteps = 10'000;

/// Of steps 2, 3, ..., of step 1 if it is the only one. Bytes are those of the last step.
RankStep mean_step(const RankResult& rank) {
  const int first = rank.steps_size() > 1 ? 1 : 0;
  const int count = rank.steps_size() - first;
  RankStep mean = *rank.steps().rbegin();
  TimeSplit& sum = *mean.mutable_time();
  sum.Clear();
  for (int i = first; i < rank.steps_size(); ++i) {
    const TimeSplit& time = rank.steps(i).time();
    sum.set_wall_s(sum.wall_s() + time.wall_s() / count);
    sum.set_forward_s(sum.forward_s() + time.forward_s() / count);
    sum.set_backward_s(sum.backward_s() + time.backward_s() / count);
    sum.set_optimizer_s(sum.optimizer_s() + time.optimizer_s() / count);
    sum.set_checkpoint_s(sum.checkpoint_s() + time.checkpoint_s() / count);
    sum.set_exposed_communication_s(sum.exposed_communication_s() +
                                    time.exposed_communication_s() / count);
    sum.set_busy_communication_s(sum.busy_communication_s() + time.busy_communication_s() / count);
    sum.set_exposed_forward_s(sum.exposed_forward_s() + time.exposed_forward_s() / count);
    sum.set_exposed_backward_s(sum.exposed_backward_s() + time.exposed_backward_s() / count);
    sum.set_exposed_optimizer_s(sum.exposed_optimizer_s() + time.exposed_optimizer_s() / count);
  }
  return mean;
}

RunResult shortened(const RunResult& run) {
  RunResult result;
  result.set_strategy(run.strategy());
  result.set_world_size(run.world_size());
  result.set_parameters(run.parameters());
  result.set_outcome(run.outcome());
  if (run.has_weights_digest()) {
    result.set_weights_digest(run.weights_digest());
  }
  if (run.has_out_of_memory()) {
    *result.mutable_out_of_memory() = run.out_of_memory();
  }
  if (run.has_failure()) {
    result.set_failure(run.failure());
  }
  if (run.has_resumed_from()) {
    result.set_resumed_from(run.resumed_from());
  }
  *result.mutable_limits() = run.limits();
  *result.mutable_options() = run.options();
  const int stride = 1 + (run.steps_size() - 1) / kMostSteps;
  for (int i = 0; i < run.steps_size(); i += stride) {
    *result.add_steps() = run.steps(i);
  }
  *result.mutable_links() = run.links();
  for (const RankResult& rank : run.ranks()) {
    RankResult& short_rank = *result.add_ranks();
    short_rank.set_rank(rank.rank());
    *short_rank.mutable_peak() = rank.peak();
    *short_rank.mutable_state() = rank.state();
    *short_rank.mutable_predicted_state() = rank.predicted_state();
    short_rank.set_predicted_peak_bytes(rank.predicted_peak_bytes());
    if (!rank.steps().empty()) {
      *short_rank.add_steps() = mean_step(rank);
    }
  }
  return result;
}

Json::Value parsed(const std::string& text) {
  const std::unique_ptr<Json::CharReader> reader(Json::CharReaderBuilder().newCharReader());
  Json::Value value;
  reader->parse(text.data(), text.data() + text.size(), &value, nullptr);
  return value;
}

/// The strategies that each resource limits, by its description.
std::map<std::string, std::vector<std::string>> limited_by(const ComparedRuns& compared) {
  std::map<std::string, std::vector<std::string>> limited;
  for_completed(compared, [&](const RunResult& run, const RunSummary&) {
    const LimitSummary limits = summarize_limits(run);
    if (const LimitShare* largest = limits.largest()) {
      limited[std::string(largest->description)].push_back(strategy_name(run));
    }
  });
  return limited;
}

/// Text reports have the scenario's name before it.
std::string capitalized(std::string sentence) {
  sentence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
  return sentence;
}

Json::Value sentences(const Scenario& scenario, const std::vector<RunResult>& runs) {
  const ComparedRuns compared = compare(scenario, runs);
  Json::Value sentences(Json::arrayValue);
  for (const std::string& sentence : answer(runs, compared.summaries)) {
    sentences.append(capitalized(sentence));
  }
  for (const std::string& sentence : skipped_sentences(runs, compared.summaries)) {
    sentences.append(sentence);
  }
  for (const std::string& sentence : resumed_sentences(runs)) {
    sentences.append(sentence);
  }
  for (const auto& [limit, strategies] : limited_by(compared)) {
    sentences.append("What limits " + listed(strategies) + " most: " + limit + ".");
  }
  for (const RunResult& run : runs) {
    if (run.outcome() != "completed") {
      sentences.append(mishap(scenario, run));
    }
  }
  return sentences;
}

/// By strategy, the preset's value of each option that the run has changed.
Json::Value default_options(const std::vector<RunResult>& runs) {
  Json::Value defaults(Json::objectValue);
  for (const RunResult& run : runs) {
    for (const StrategyOption& option : run.options()) {
      const std::string preset = default_option(run, option.name());
      if (!preset.empty() && preset != option.value()) {
        defaults[run.strategy()][option.name()] = preset;
      }
    }
  }
  return defaults;
}

}  // namespace

Json::Value run_data(const Scenario& scenario, const std::vector<RunResult>& runs,
                     const ReportContext& context) {
  std::vector<RunResult> short_runs;
  short_runs.reserve(runs.size());
  for (const RunResult& run : runs) {
    short_runs.push_back(shortened(run));
  }
  Json::Value data;
  data["kind"] = "run";
  data["title"] = scenario.name;
  data["shardscope"] = context.version;
  data["run"] = parsed(json_report(scenario, short_runs, context));
  data["answer"] = sentences(scenario, runs);
  data["default_options"] = default_options(runs);
  return data;
}

}  // namespace shardscope
