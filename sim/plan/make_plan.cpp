#include "sim/plan/make_plan.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "scenarios/scenario.pb.h"
#include "sim/plan/recommendation.h"
#include "sim/scenario/message_text.h"
#include "sim/topology/topology.h"

namespace shardscope {
namespace {

const std::vector<int> kRanks = {8, 64};
constexpr std::size_t kMostChannels = 64;
constexpr std::size_t kMostAccumulation = 1'000'000;
const std::vector<std::size_t> kMicroBatches = {1, 2, 4};

// A configuration's strategy is one of a family, whose others are candidates as well.
const std::vector<std::vector<std::string>> kFamilies = {
    {"DEEPSPEED_STAGE0", "DEEPSPEED_STAGE1", "DEEPSPEED_STAGE2", "DEEPSPEED_STAGE3"},
    {"FSDP_NO_SHARD", "FSDP_SHARD_GRAD_OP", "FSDP_FULL_SHARD", "FSDP_HYBRID_SHARD"},
    {"TORCH_DDP", "ZERO_REDUNDANCY_OPTIMIZER"}};
const std::vector<std::string> kStrategies = {
    "TORCH_DDP",          "DEEPSPEED_STAGE1", "DEEPSPEED_STAGE2", "DEEPSPEED_STAGE3",
    "FSDP_SHARD_GRAD_OP", "FSDP_FULL_SHARD",  "FSDP_HYBRID_SHARD"};

// A plan sets these itself.
const std::vector<std::string> kVaried = {"training.global_batch", "training.steps",
                                          "training.activation_checkpointing", "strategies"};

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) {
    all += (all.empty() ? "" : ",") + name;
  }
  return all;
}

std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t comma = std::min(names.find(',', begin), names.size());
    all.push_back(names.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return all;
}

// The stage of "DEEPSPEED_STAGE2".
std::optional<int> stage_of(const std::string& strategy) {
  constexpr std::string_view kPrefix = "DEEPSPEED_STAGE";
  const bool is_one = strategy.starts_with(kPrefix) && strategy.size() == kPrefix.size() + 1;
  return is_one ? std::optional(strategy.back() - '0') : std::nullopt;
}

bool gives(const MessageText& text, std::string_view field) {
  return field == "strategies" ? text.count(field) > 0 : text.has(field);
}

Override own(const std::string& place, const std::string& field, const std::string& value) {
  return {place, field + "=" + value};
}

class PlanReader {
 public:
  PlanReader(const PlanRequest& request, std::vector<Fault>& faults)
      : request_(request),
        faults_(faults),
        written_(request.file.path, request.file.contents, request.overrides, message_) {}

  std::optional<Plan> read() {
    refuse_varied();
    check_accumulation();
    const std::optional<Scenario> any =
        parse(overrides({}, request_.ranks.empty() ? 1 : request_.ranks.front(), 1));
    if (!any.has_value() || !faults_.empty()) {
      return std::nullopt;
    }
    if (any->model.transformer.has_value()) {
      hidden_ = any->model.transformer->hidden;
    }
    note_cluster(any->cluster);
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
  // Candidates that one reading of the configuration, if there is one, is for.
  struct Variant {
    std::optional<FrameworkConfig> config = {};
    std::optional<std::string> strategies = {};  // None: the scenario's.
  };

  // Points replace it, so that the scenario's reader does not see it.
  void check_accumulation() {
    const auto set = set_accumulation();
    if (set.has_value() && (*set < 1 || *set > kMostAccumulation)) {
      faults_.push_back(
          {written_.place("training.micro_batches", 0),
           "training.micro_batches",
           std::to_string(written_.whole("training.micro_batches")) + " is not allowed",
           "a whole number from 1 to " + std::to_string(kMostAccumulation),
           {}});
    }
  }

  void refuse_varied() {
    std::vector<std::string> varied = kVaried;
    if (!request_.ranks.empty()) {
      varied.emplace_back("cluster.world_size");
    }
    for (const Override& set : request_.overrides) {
      // A block has fields of its own: training={steps: 3}.
      schema::Scenario message;
      const MessageText alone({}, {}, {set}, message);
      const std::string named = set.assignment.substr(0, set.assignment.find('='));
      for (const std::string& field : varied) {
        if (field == named || gives(alone, field)) {
          faults_.push_back({set.argument,
                             field,
                             "is what the plan chooses",
                             "--ranks, --micro-batch and --strategy say among what",
                             {}});
        }
      }
    }
  }

  // Of a file that describes all of it, how many devices there are.
  void note_cluster(const Cluster& cluster) {
    devices_per_node_ = cluster.devices_per_node;
    nics_ = cluster.spec.node.has_value() ? cluster.spec.node->nics : 0;
    if (cluster.platform.has_value()) {
      devices_ = cluster.platform->hosts.size();
    } else if (cluster.read != nullptr) {
      devices_ = cluster.read->devices().size();
    }
  }

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
    if (scenario_ranks_.has_value()) {
      return {*scenario_ranks_};
    }
    return devices_ > 0 ? std::vector{static_cast<int>(devices_)} : kRanks;
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
    for (const Variant& variant : find_variants(ranks)) {
      add_points(ranks, variant);
    }
  }

  // DeepSpeed's defaults are those of a stage: the configuration is read anew for each.
  std::vector<Variant> find_variants(int ranks) {
    if (!request_.config.has_value()) {
      return {{.strategies = strategies_without_config(ranks)}};
    }
    std::vector<Fault> found;
    const std::optional<FrameworkConfig> config = read_config(ranks, found);
    add_new(found);
    if (!config.has_value()) {
      return {};
    }
    plan_.config_file = request_.config->file.path.string();
    plan_.config_strategy = config->strategy;
    plan_.config_micro_batch = config->micro_batch;
    plan_.config_ranks = config->processes;
    plan_.config_recomputes = config->full_recomputation;
    plan_.understood = config->items;
    std::vector<Variant> variants;
    std::vector<std::string> others;
    for (const std::string& name :
         request_.strategies.has_value() ? split(*request_.strategies) : family_of(*config)) {
      const std::optional<int> stage = stage_of(name);
      if (!stage.has_value() || !stage_of(config->strategy).has_value() ||
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
      variants.push_back({config, joined(others)});
    }
    return variants;
  }

  void add_points(int ranks, const Variant& variant) {
    const std::optional<FrameworkConfig>& config = variant.config;
    const std::vector<std::size_t> batches = micro_batches(config);
    const std::size_t largest = *std::max_element(batches.begin(), batches.end());
    const std::optional<Scenario> scenario = parse(overrides(variant, ranks, largest));
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

  // What --set says of accumulation goes before a configuration, as of every field.
  std::optional<std::size_t> set_accumulation() const {
    const std::string_view field = "training.micro_batches";
    return written_.is_overridden(field)
               ? std::optional(static_cast<std::size_t>(written_.whole(field)))
               : std::nullopt;
  }

  // 0, and a reason, if there is none.
  std::size_t find_accumulation(const std::optional<FrameworkConfig>& config, int ranks,
                                std::size_t batch) {
    if (const auto set = set_accumulation()) {
      return *set;
    }
    if (!config.has_value()) {
      return accumulation_;
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

  std::vector<Override> overrides(const Variant& variant, int ranks, std::size_t batch) const {
    std::vector<Override> all = request_.defaults;
    const auto add = [&](const std::vector<Override>& more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    const std::string place = "--ranks " + std::to_string(ranks);
    if (!says("training.precision")) {
      all.push_back(own("plan", "training.precision", "BF16"));
    }
    // As NCCL, a ring for each NIC.
    if (nics_ > 1 && static_cast<std::size_t>(ranks) > devices_per_node_ &&
        !says("cluster.collective.channels") && !says("cluster.collective.algorithm")) {
      all.push_back(own("plan", "cluster.collective.channels",
                        std::to_string(std::min(nics_, kMostChannels))));
    }
    if (variant.config.has_value()) {
      add(variant.config->overrides);
      if (variant.config->optimizer_offload == Offload::cpu) {
        all.push_back(
            own(request_.config->file.path.string(), "training.optimizer_offload", "CPU"));
      }
    }
    add(request_.overrides);
    all.push_back(own(place, "cluster.world_size", std::to_string(ranks)));
    all.push_back(own(place, "training.micro_batches", "1"));  // Points set theirs.
    all.push_back(own(place, "training.global_batch",
                      std::to_string(batch * static_cast<std::size_t>(ranks))));
    const std::optional<std::string> names =
        variant.strategies.has_value() ? variant.strategies : strategies_without_config(ranks);
    if (names.has_value()) {
      all.push_back(
          own(request_.strategies.has_value() ? "--strategy " + *request_.strategies : place,
              "strategies", *names));
    }
    return all;
  }

  std::optional<std::string> strategies_without_config(int ranks) const {
    if (request_.strategies.has_value()) {
      return request_.strategies;
    }
    if (says("strategies")) {
      return std::nullopt;
    }
    std::vector<std::string> names;
    for (const std::string& name : kStrategies) {
      const bool is_whole =
          name == "FSDP_HYBRID_SHARD" &&
          static_cast<std::size_t>(ranks) <= std::max<std::size_t>(devices_per_node_, 8);
      if (!is_whole && (!is_on_host() || find_strategy(name)->has_shards())) {
        names.push_back(name);
      }
    }
    return joined(names);
  }

  std::vector<std::string> family_of(const FrameworkConfig& config) const {
    std::vector<std::string> names;
    for (const std::vector<std::string>& family : kFamilies) {
      if (std::find(family.begin(), family.end(), config.strategy) == family.end()) {
        continue;
      }
      for (const std::string& name : family) {
        const bool is_on_device = config.optimizer_offload == Offload::none && !is_on_host();
        const bool is_asked = name != "FSDP_HYBRID_SHARD" || config.strategy == name;
        if (is_asked && (is_on_device || find_strategy(name)->has_shards())) {
          names.push_back(name);
        }
      }
    }
    return names.empty() ? std::vector{config.strategy} : names;
  }

  // Whether the user gave the field.
  bool says(std::string_view field) const { return gives(written_, field); }

  bool is_on_host() const { return written_.enumerator("training.optimizer_offload") == "CPU"; }

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
  schema::Scenario message_;
  MessageText written_;  // By the user; its faults are reported when the scenario is read.
  std::set<std::string> known_;
  std::optional<std::size_t> hidden_;
  std::optional<int> scenario_ranks_;
  std::size_t accumulation_ = 1;  // The scenario's.
  std::size_t devices_per_node_ = 1;
  std::size_t nics_ = 0;     // Of a node.
  std::size_t devices_ = 0;  // Of a cluster that a file describes.
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
