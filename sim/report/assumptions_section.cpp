#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/cluster_text.h"
#include "sim/report/format.h"
#include "sim/report/sections.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

/// More than in the tables: a bandwidth of 1555 GB/s is given exactly.
constexpr int kDigits = 4;

std::string device_text(const DeviceSpec& device) {
  return (device.preset.empty() ? "" : printable(device.preset) + ": ") +
         format_flops_per_s(device.peak_flops_per_s, kDigits) + " x " +
         significant(device.compute_efficiency) + ", memory " +
         format_bytes(static_cast<double>(device.memory_bytes), kDigits) + " at " +
         format_bytes_per_s(device.memory_bandwidth_bytes_per_s, kDigits) + " x " +
         significant(device.memory_efficiency) + ", launch " +
         format_seconds(device.launch_overhead_s, kDigits) +
         (device.communication_slowdown == 1
              ? ""
              : "; kernels take " + significant(device.communication_slowdown) +
                    " times as long while a collective is in flight");
}

std::string numbers_text(const TrainingOptions& training, const CollectiveSpec& collective) {
  std::string text = std::string(name(training.precision)) + " parameters, gradients ";
  if (training.accumulate_precision() != training.precision) {
    text += "kept in " + std::string(name(training.accumulate_precision())) + " and ";
  }
  text += "reduced in " + std::string(name(training.reduce_precision)) + ", " +
          collectives_text(collective) + ", ";
  return text + (training.storage == Storage::real ? "arithmetic REAL" : "arithmetic NONE");
}

std::string host_text(const HostSpec& host) {
  return "holds the optimizer; " + format_bytes_per_s(host.link_bytes_per_s, kDigits) +
         " to a device and back, " +
         format_count(static_cast<std::uint64_t>(host.adam_parameters_per_s)) +
         " parameters updated per second and node";
}

/// What a step does beyond forward, backward and update; empty if nothing.
std::string step_text(const TrainingOptions& training) {
  std::vector<std::string> parts;
  if (training.micro_batches > 1) {
    parts.push_back(std::to_string(training.micro_batches) +
                    " micro-batches, gradients accumulated");
  }
  if (training.activation_checkpointing > 0) {
    parts.push_back("activations kept every " + plural(training.activation_checkpointing, "layer") +
                    ", others recomputed");
  }
  if (training.clip_norm > 0) {
    parts.push_back("gradients clipped to a norm of " + significant(training.clip_norm));
  }
  if (training.dynamic_loss_scale.has_value()) {
    parts.push_back("dynamic loss scale from " +
                    significant(training.dynamic_loss_scale->initial.value_or(65536), kDigits));
  }
  return listed(parts);
}

std::string checkpoint_text(const Scenario& scenario) {
  const CheckpointSpec& checkpoint = *scenario.checkpoint;
  return "a checkpoint every " + plural(static_cast<std::size_t>(checkpoint.every_steps), "step") +
         ", 12 bytes per owned parameter at " +
         format_bytes_per_s(checkpoint.bandwidth_bytes_per_s, kDigits) + " per rank" +
         (scenario.training.storage == Storage::real ? "" : "; timed, not written: shapes only");
}

/// "all_reduce of 1.58 MB HIERARCHICAL (about 2.1 ms)": sizes that choose alike share a mention.
std::string choices_text(const RunResult& run) {
  std::map<std::pair<std::string, std::string>, std::vector<const ChosenAlgorithm*>> chosen;
  for (const ChosenAlgorithm& choice : run.chosen_algorithms()) {
    chosen[{choice.operation(), choice.algorithm()}].push_back(&choice);
  }
  std::vector<std::string> parts;
  for (const auto& [what, choices] : chosen) {
    const auto bytes = [](const ChosenAlgorithm* choice) {
      return format_bytes(static_cast<double>(choice->bytes()));
    };
    const std::string sizes = choices.size() == 1
                                  ? bytes(choices.front())
                                  : bytes(choices.front()) + " to " + bytes(choices.back());
    parts.push_back(what.first + " of " + sizes + " " + what.second + " (by estimate " +
                    format_seconds(choices.back()->estimated_s()) + ")");
  }
  return listed(parts);
}

/// "overlap=true, bucket_size=1MiB (default 25MiB)".
std::string options_text(const RunResult& run) {
  std::string text;
  for (const StrategyOption& option : run.options()) {
    const std::string preset = default_option(run, option.name());
    text += (text.empty() ? "" : ", ") + option.name() + "=" + option.value();
    text += preset.empty() || preset == option.value() ? "" : " (default " + preset + ")";
  }
  return text;
}

/// Runs that end with the same weights share a line.
void write_weights(const std::vector<RunResult>& runs, Page& page) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_digest;
  for (const RunResult& run : runs) {
    if (!run.has_weights_digest()) {
      continue;
    }
    const std::string digest = printable(run.weights_digest());
    const auto same = std::find_if(by_digest.begin(), by_digest.end(),
                                   [&](const auto& entry) { return entry.first == digest; });
    if (same == by_digest.end()) {
      by_digest.push_back({digest, {strategy_name(run)}});
    } else {
      same->second.push_back(strategy_name(run));
    }
  }
  for (const auto& [digest, strategies] : by_digest) {
    page.entry("weights", "digest " + digest + ": " + listed(strategies));
  }
}

}  // namespace

void write_assumptions(const ComparedRuns& compared, const ReportContext& context, Page& page) {
  const Scenario& scenario = compared.scenario;
  page.heading("What this rests on");
  page.entry("network", network_text(scenario.cluster));
  write_file(scenario.cluster, page);
  if (const std::string text = placement_text(scenario.cluster); !text.empty()) {
    page.entry("placement", text);
  }
  if (const std::string text = unevenness_text(scenario.cluster); !text.empty()) {
    page.entry("uneven", text);
  }
  page.entry("device", device_text(scenario.device));
  page.entry("compute",
             "time of a kernel = max(flops / (peak x efficiency), bytes / (memory bandwidth x "
             "efficiency)) + launch");
  if (!scenario.model_file.empty()) {
    page.entry("model", printable(scenario.model_file));
  }
  for (const std::string& note : scenario.model_notes) {
    page.entry("model", printable(note));
  }
  if (scenario.training.optimizer_on_host) {
    page.entry("host", host_text(scenario.host));
  }
  page.entry("numbers", numbers_text(scenario.training, scenario.cluster.collective));
  if (const std::string text = step_text(scenario.training); !text.empty()) {
    page.entry("step", text);
  }
  if (scenario.checkpoint.has_value()) {
    page.entry("storage", checkpoint_text(scenario));
  }
  for (const RunResult& run : compared.runs) {
    if (run.chosen_algorithms_size() > 0) {
      page.entry("AUTO", strategy_name(run) + ": " + choices_text(run));
    }
  }
  for (const RunResult& run : compared.runs) {
    if (run.options_size() > 0) {
      page.entry("options", strategy_name(run) + ": " + options_text(run));
    }
  }
  if (!context.simgrid_settings.empty()) {
    page.entry("SimGrid", simgrid_text(context.simgrid_settings));
  }
  write_weights(compared.runs, page);
  page.entry("scenario", "digest " + scenario.digest);
  page.entry("program", "shardscope " + context.version);
}

}  // namespace shardscope
