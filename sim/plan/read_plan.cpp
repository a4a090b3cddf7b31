#include "sim/plan/read_plan.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "sim/plan/candidates.h"
#include "sim/plan/given.h"
#include "sim/plan/point_overrides.h"
#include "sim/report/format.h"
#include "sim/text/comma_list.h"

namespace shardscope {
namespace {

class PlanReader {
 public:
  PlanReader(const PlanRequest& request, std::vector<Fault>& faults)
      : request_(request), faults_(faults), given_(request) {}

  std::optional<Plan> read() {
    add_new(given_.chosen_fields());
    const int ranks = find_ranks().front();
    const std::optional<Scenario> any = parse(overrides().of({}, ranks, 1));
    if (!any.has_value() || !faults_.empty()) {
      return std::nullopt;
    }
    choose_precision(*any, ranks);
    if (any->model.transformer.has_value()) {
      hidden_ = any->model.transformer->hidden;
    }
    cluster_ = plan_cluster(any->cluster);
    for (const int count : find_ranks()) {
      add_points(count);
    }
    if (!faults_.empty()) {
      return std::nullopt;
    }
    if (plan_.points.empty()) {
      for (const std::string& reason : plan_.left_out) {
        faults_.push_back({ranks_are_usual() ? "--ranks" : "--micro-batch", {}, reason, {}, {}});
      }
      return std::nullopt;
    }
    return std::move(plan_);
  }

 private:
  // The device's faster half type, bf16 if they are alike.
  void choose_precision(const Scenario& with_bf16, int ranks) {
    if (given_.says("training.precision")) {
      return;
    }
    precision_ = "FP16";
    std::vector<Fault> none;
    const auto with_fp16 =
        parse_scenario(request_.file, overrides().of({}, ranks, 1), request_.platforms, none);
    if (!with_fp16.has_value() ||
        with_fp16->device.peak_flops_per_s <= with_bf16.device.peak_flops_per_s) {
      precision_ = "BF16";
    }
  }

  // Whether nobody says how many, nor does a file that describes the whole cluster.
  bool ranks_are_usual() const {
    return request_.ranks.empty() && !config_ranks().has_value() && !given_.ranks().has_value() &&
           cluster_.devices == 0 && !given_.has_cluster_file();
  }

  std::vector<int> find_ranks() const {
    if (!request_.ranks.empty()) {
      return request_.ranks;
    }
    if (const auto ranks = config_ranks()) {
      return {*ranks};
    }
    if (const auto ranks = given_.ranks()) {
      return {*ranks};
    }
    if (ranks_are_usual()) {
      return usual_ranks();
    }
    return {std::max(1, static_cast<int>(cluster_.devices))};
  }

  std::optional<int> config_ranks() const {
    if (!request_.config.has_value()) {
      return std::nullopt;
    }
    std::vector<Fault> later;  // With the ranks known they are reported.
    const std::optional<FrameworkConfig> config = read_config(0, later);
    return config.has_value() ? config->processes : std::nullopt;
  }

  std::optional<FrameworkConfig> read_config(int ranks, std::vector<Fault>& faults,
                                             std::optional<int> stage = {}) const {
    const ConfigContext context{
        .ranks = ranks, .hidden_size = hidden_, .micro_batch = {}, .zero_stage = stage};
    return request_.config->kind == ConfigKind::deepspeed
               ? read_deepspeed_config(request_.config->file, context, faults)
               : read_accelerate_config(request_.config->file, context, faults);
  }

  void add_points(int ranks) {
    for (const PlanVariant& variant : find_variants(ranks)) {
      add_points(ranks, variant);
    }
  }

  // DeepSpeed's defaults are those of a stage: the configuration is read anew for each.
  std::vector<PlanVariant> find_variants(int ranks) {
    if (!request_.config.has_value()) {
      return {{.strategies = overrides().strategies_without_config(ranks)}};
    }
    std::vector<Fault> found;
    const std::optional<FrameworkConfig> config = read_config(ranks, found);
    if (!config.has_value() && ranks_are_usual()) {
      for (const Fault& fault : found) {
        leave_out(std::to_string(ranks) + " ranks: " + format_fault(fault));
      }
      return {};
    }
    add_new(found);
    if (!config.has_value()) {
      return {};
    }
    refuse_other_machines(*config);
    plan_.config_file = request_.config->file.path.string();
    plan_.config_strategy = config->strategy;
    plan_.config_micro_batch = config->micro_batch;
    plan_.config_ranks = config->processes;
    plan_.config_recomputes = config->full_recomputation;
    plan_.understood = config->items;
    for (ConfigItem& item : plan_.understood) {
      if (const std::string option = given_.option_before(item); !option.empty()) {
        item.meaning += "; " + option + " goes before it";
      }
    }
    refuse_other_frameworks(*config);
    std::vector<PlanVariant> variants;
    std::vector<std::string> others;
    for (const std::string& name : request_.strategies.has_value()
                                       ? comma_list(*request_.strategies)
                                       : strategies_beside(*config, given_.is_on_host())) {
      const std::optional<int> stage = deepspeed_stage(name);
      if (!stage.has_value() || !deepspeed_stage(config->strategy).has_value() ||
          name == config->strategy) {
        others.push_back(name);
        continue;
      }
      std::vector<Fault> faults;
      if (auto variant = read_config(ranks, faults, stage)) {
        variants.push_back({std::move(variant), name});
      }
      for (const Fault& fault : faults) {
        leave_out(name + ": " + format_fault(fault));
      }
    }
    if (!others.empty()) {
      variants.push_back({config, comma_joined(others)});
    }
    return variants;
  }

  // Its machines are nodes of the cluster.
  void refuse_other_machines(const FrameworkConfig& config) {
    if (!request_.ranks.empty() || !config.processes.has_value() || !cluster_.built_nodes) {
      return;
    }
    const int machines = config.machines.value_or(1);
    const auto each = static_cast<std::size_t>(*config.processes / machines);
    if (each > cluster_.devices_per_node || (machines > 1 && each < cluster_.devices_per_node)) {
      add_new({{.place = request_.config->file.path.string(),
                .field = "num_machines",
                .problem = plural(static_cast<std::size_t>(machines), "machine") + " of " +
                           plural(each, "process") + " each, where the cluster's nodes have " +
                           plural(cluster_.devices_per_node, "device"),
                .allowed = "--ranks instead, a cluster of such nodes, or --set "
                           "cluster.node.devices=" +
                           std::to_string(each),
                .nearest = {}}});
    }
  }

  // What the configuration says of its framework's strategies is nothing to others.
  void refuse_other_frameworks(const FrameworkConfig& config) {
    if (!request_.strategies.has_value()) {
      return;
    }
    const std::vector<std::string> family = strategies_of_framework(config);
    std::vector<Fault> others;
    for (const std::string& name : comma_list(*request_.strategies)) {
      const bool is_of_it = std::find(family.begin(), family.end(), name) != family.end();
      if (find_strategy(name) != nullptr && !is_of_it) {
        others.push_back({.place = "--strategy " + *request_.strategies,
                          .field = {},
                          .problem = name + " is of another framework than the configuration",
                          .allowed = one_of(family),
                          .nearest = {}});
      }
    }
    add_new(others);
  }

  void add_points(int ranks, const PlanVariant& variant) {
    const std::optional<FrameworkConfig>& config = variant.config;
    const std::vector<std::size_t> batches = micro_batches(config);
    const std::size_t largest = *std::max_element(batches.begin(), batches.end());
    const std::optional<Scenario> scenario = parse(overrides().of(variant, ranks, largest));
    if (!scenario.has_value()) {
      return;
    }
    for (const std::size_t batch : batches) {
      const std::size_t accumulation = find_accumulation(config, ranks, batch);
      if (accumulation == 0) {
        continue;
      }
      for (const bool recompute : {false, true}) {
        if (!recompute && config.has_value() && config->full_recomputation) {
          continue;
        }
        plan_.points.push_back({ranks, batch, accumulation, recompute, *scenario});
        TrainingOptions& training = plan_.points.back().scenario.training;
        training.micro_batches = accumulation;
        training.global_batch = batch * accumulation * static_cast<std::size_t>(ranks);
        training.activation_checkpointing = recompute ? 1 : 0;
        plan_.points.back().scenario.checkpoint.reset();  // No candidate saves its state.
      }
    }
  }

  std::vector<std::size_t> micro_batches(const std::optional<FrameworkConfig>& config) const {
    if (!request_.micro_batches.empty()) {
      return request_.micro_batches;
    }
    if (config.has_value() && config->micro_batch.has_value()) {
      return {*config->micro_batch};
    }
    return usual_micro_batches();
  }

  PointOverrides overrides() const { return {request_, given_, cluster_, precision_}; }

  // 0, and a reason, if there is none.
  std::size_t find_accumulation(const std::optional<FrameworkConfig>& config, int ranks,
                                std::size_t batch) {
    if (const auto given = given_.accumulation(config.has_value())) {
      return static_cast<std::size_t>(*given);
    }
    if (!config.has_value()) {
      return 1;
    }
    if (config->gives_train_batch) {
      const std::size_t at_once = batch * static_cast<std::size_t>(ranks);
      if (*config->train_batch % at_once != 0) {
        leave_out("micro-batch " + std::to_string(batch) + " on " + std::to_string(ranks) +
                  " ranks: a train_batch_size of " + std::to_string(*config->train_batch) +
                  " is no multiple of " + std::to_string(at_once));
        return 0;
      }
      return *config->train_batch / at_once;
    }
    return config->accumulation.value_or(1);
  }

  // Each reason once, though every stage of DeepSpeed may have it.
  void leave_out(const std::string& reason) {
    std::vector<std::string>& all = plan_.left_out;
    if (std::find(all.begin(), all.end(), reason) == all.end()) {
      all.push_back(reason);
    }
  }

  std::optional<Scenario> parse(const std::vector<Override>& overrides) {
    std::vector<Fault> found;
    std::optional<Scenario> scenario =
        parse_scenario(request_.file, overrides, request_.platforms, found);
    add_new(found);
    return scenario;
  }

  // Each fault once, though every number of ranks may have it.
  void add_new(const std::vector<Fault>& found) {
    for (const Fault& fault : found) {
      if (known_.insert(format_fault(fault)).second) {
        faults_.push_back(fault);
      }
    }
  }

  const PlanRequest& request_;
  std::vector<Fault>& faults_;
  GivenFields given_;
  std::set<std::string> known_;
  std::optional<std::size_t> hidden_;
  std::string precision_ = "BF16";
  PlanCluster cluster_;
  Plan plan_;
};

}  // namespace

std::optional<Plan> read_plan(const PlanRequest& request, std::vector<Fault>& faults) {
  return PlanReader(request, faults).read();
}

}  // namespace shardscope
