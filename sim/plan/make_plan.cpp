#include "sim/plan/make_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "scenarios/scenario.pb.h"
#include "sim/plan/recommendation.h"
#include "sim/scenario/message_text.h"

namespace shardscope {
namespace {

const std::vector<int> kRanks = {8, 64};
const std::vector<std::size_t> kMicroBatches = {1, 2, 4};

// A configuration's strategy is one of a family, whose others are candidates as well.
const std::vector<std::vector<std::string>> kFamilies = {
    {"DEEPSPEED_STAGE0", "DEEPSPEED_STAGE1", "DEEPSPEED_STAGE2", "DEEPSPEED_STAGE3"},
    {"FSDP_NO_SHARD", "FSDP_SHARD_GRAD_OP", "FSDP_FULL_SHARD", "FSDP_HYBRID_SHARD"},
    {"TORCH_DDP", "ZERO_REDUNDANCY_OPTIMIZER"}};
const std::vector<std::string> kStrategies = {"TORCH_DDP",          "DEEPSPEED_STAGE1",
                                              "DEEPSPEED_STAGE2",   "DEEPSPEED_STAGE3",
                                              "FSDP_SHARD_GRAD_OP", "FSDP_FULL_SHARD"};

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) {
    all += (all.empty() ? "" : ",") + name;
  }
  return all;
}

Override own(const std::string& place, const std::string& field, const std::string& value) {
  return {place, field + "=" + value};
}

class PlanReader {
 public:
  PlanReader(const PlanRequest& request, std::vector<Fault>& faults)
      : request_(request), faults_(faults) {}

  std::optional<Plan> read() {
    const std::optional<Scenario> any =
        parse(overrides(nullptr, request_.ranks.empty() ? 1 : request_.ranks.front(), 1));
    if (!any.has_value()) {
      return std::nullopt;
    }
    if (any->model.transformer.has_value()) {
      hidden_ = any->model.transformer->hidden;
    }
    read_own();
    for (const int ranks : find_ranks()) {
      add_points(ranks);
    }
    if (!faults_.empty()) {
      return std::nullopt;
    }
    if (plan_.points.empty()) {
      for (const std::string& reason : plan_.left_out) {
        faults_.push_back({"--micro-batch", {}, reason, {}, {}});
      }
      return std::nullopt;
    }
    return std::move(plan_);
  }

 private:
  // A scenario that can be run by itself says how many ranks and micro-steps.
  void read_own() {
    std::vector<Fault> missing;
    std::vector<Override> without = request_.defaults;
    without.insert(without.end(), request_.overrides.begin(), request_.overrides.end());
    if (const std::optional<Scenario> scenario =
            parse_scenario(request_.file, without, request_.platforms, missing)) {
      scenario_ranks_ = scenario->world_size;
      accumulation_ = scenario->training.micro_batches;
    }
  }

  std::vector<int> find_ranks() {
    if (!request_.ranks.empty()) {
      return request_.ranks;
    }
    if (request_.config.has_value()) {
      std::vector<Fault> later;  // With the ranks known they are reported.
      const std::optional<FrameworkConfig> config = read_config(0, later);
      if (config.has_value() && config->processes.has_value()) {
        return {*config->processes};
      }
    }
    return scenario_ranks_.has_value() ? std::vector{*scenario_ranks_} : kRanks;
  }

  std::optional<FrameworkConfig> read_config(int ranks, std::vector<Fault>& faults) const {
    const ConfigContext context{.ranks = ranks, .hidden_size = hidden_, .micro_batch = {}};
    return request_.config->kind == ConfigKind::deepspeed
               ? read_deepspeed_config(request_.config->path, context, faults)
               : read_accelerate_config(request_.config->path, context, faults);
  }

  void add_points(int ranks) {
    std::optional<FrameworkConfig> config;
    if (request_.config.has_value()) {
      std::vector<Fault> found;
      config = read_config(ranks, found);
      add_new(found);
      if (!config.has_value()) {
        return;
      }
      plan_.config_file = request_.config->path;
      plan_.understood = config->items;
    }
    const std::vector<std::size_t> batches = micro_batches(config);
    const std::size_t largest = *std::max_element(batches.begin(), batches.end());
    const std::optional<Scenario> scenario =
        parse(overrides(config.has_value() ? &*config : nullptr, ranks, largest));
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
    return kMicroBatches;
  }

  // 0, and a reason, if there is none.
  std::size_t find_accumulation(const std::optional<FrameworkConfig>& config, int ranks,
                                std::size_t batch) {
    if (!config.has_value()) {
      return accumulation_;
    }
    if (config->train_batch.has_value()) {
      const std::size_t at_once = batch * static_cast<std::size_t>(ranks);
      if (*config->train_batch % at_once != 0) {
        plan_.left_out.push_back("micro-batch " + std::to_string(batch) + " on " +
                                 std::to_string(ranks) + " ranks: a train_batch_size of " +
                                 std::to_string(*config->train_batch) + " is no multiple of " +
                                 std::to_string(at_once));
        return 0;
      }
      return *config->train_batch / at_once;
    }
    return config->accumulation.value_or(1);
  }

  std::vector<Override> overrides(const FrameworkConfig* config, int ranks,
                                  std::size_t batch) const {
    std::vector<Override> all = request_.defaults;
    const auto add = [&](const std::vector<Override>& more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    const std::string place = "--ranks " + std::to_string(ranks);
    if (config != nullptr) {
      add(config->overrides);
      if (config->optimizer_offload == Offload::cpu) {
        all.push_back(own(request_.config->path, "training.optimizer_offload", "CPU"));
      }
    }
    add(request_.overrides);
    all.push_back(own(place, "cluster.world_size", std::to_string(ranks)));
    all.push_back(own(place, "training.micro_batches", "1"));  // Points set theirs.
    all.push_back(own(place, "training.global_batch",
                      std::to_string(batch * static_cast<std::size_t>(ranks))));
    if (const auto names = strategies(config)) {
      all.push_back(own(request_.strategies.has_value() ? "--strategy " + *names : place,
                        "strategies", *names));
    }
    return all;
  }

  std::optional<std::string> strategies(const FrameworkConfig* config) const {
    if (request_.strategies.has_value()) {
      return request_.strategies;
    }
    if (config == nullptr) {
      return has_strategies() ? std::nullopt : std::optional(joined(kStrategies));
    }
    for (const std::vector<std::string>& family : kFamilies) {
      if (std::find(family.begin(), family.end(), config->strategy) != family.end()) {
        std::vector<std::string> names;
        for (const std::string& name : family) {
          const bool fits =
              config->optimizer_offload == Offload::none || find_strategy(name)->has_shards();
          const bool is_asked = name != "FSDP_HYBRID_SHARD" || config->strategy == name;
          if (fits && is_asked) {
            names.push_back(name);
          }
        }
        return joined(names);
      }
    }
    return config->strategy;
  }

  bool has_strategies() const {
    schema::Scenario message;
    const MessageText text(request_.file.path, request_.file.contents, request_.overrides, message);
    return text.count("strategies") > 0;
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
  std::set<std::string> known_;
  std::optional<std::size_t> hidden_;
  std::optional<int> scenario_ranks_;
  std::size_t accumulation_ = 1;  // The scenario's.
  Plan plan_;
};

}  // namespace

std::optional<Plan> read_plan(const PlanRequest& request, std::vector<Fault>& faults) {
  return PlanReader(request, faults).read();
}

void run_plan(Plan& plan, const PlanRunOptions& options) {
  std::vector<PlanTask> tasks;
  for (std::size_t p = 0; p < plan.points.size(); ++p) {
    for (const Strategy& strategy : plan.points[p].scenario.strategies) {
      tasks.push_back({&plan.points[p].scenario, strategy});
      plan.rows.push_back({.point = p, .strategy = strategy, .figures = {}});
    }
  }
  const std::vector<PlanFigures> figures = run_plan_tasks(tasks, options);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    plan.rows[i].figures = figures[i];
  }
  std::stable_sort(plan.rows.begin(), plan.rows.end(), [&](const PlanRow& a, const PlanRow& b) {
    const int ranks_a = plan.point_of(a).ranks;
    const int ranks_b = plan.point_of(b).ranks;
    if (ranks_a != ranks_b || a.completed() != b.completed()) {
      return std::pair(ranks_a, !a.completed()) < std::pair(ranks_b, !b.completed());
    }
    return a.completed() ? tokens_per_s(plan, a) > tokens_per_s(plan, b)
                         : peak_bytes(a) < peak_bytes(b);
  });
  recommend(plan, options);
}

}  // namespace shardscope
