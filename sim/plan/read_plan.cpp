#include "sim/plan/read_plan.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "scenarios/scenario.pb.h"
#include "sim/plan/candidates.h"
#include "sim/scenario/message_text.h"
#include "sim/text/comma_list.h"
#include "sim/topology/topology.h"

namespace shardscope {
namespace {

constexpr std::string_view kAccumulation = "training.micro_batches";
constexpr std::size_t kMostChannels = 64;
constexpr std::int64_t kMostAccumulation = 100'000'000;  // Beyond what a scenario may have.

// A plan sets these itself.
const std::vector<std::string> kVaried = {"training.global_batch", "training.steps",
                                          "training.activation_checkpointing", "strategies"};

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
    return devices_ > 0 ? std::vector{static_cast<int>(devices_)} : usual_ranks();
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
    for (ConfigItem& item : plan_.understood) {
      if (const std::string option = option_before(item); !option.empty()) {
        item.meaning += "; " + option + " goes before it";
      }
    }
    refuse_other_frameworks(*config);
    std::vector<Variant> variants;
    std::vector<std::string> others;
    for (const std::string& name : request_.strategies.has_value()
                                       ? comma_list(*request_.strategies)
                                       : strategies_beside(*config, is_on_host())) {
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

  // The option that says otherwise than a key of the configuration; none if empty.
  std::string option_before(const ConfigItem& item) const {
    const auto is = [&](std::string_view key) { return item.key.ends_with(key); };
    if (is("train_micro_batch_size_per_gpu") && !request_.micro_batches.empty()) {
      return "--micro-batch";
    }
    if ((is("num_processes") || is("num_machines")) && !request_.ranks.empty()) {
      return "--ranks";
    }
    if ((is("train_batch_size") || is("gradient_accumulation_steps")) && set_accumulation()) {
      return "--set " + std::string(kAccumulation);
    }
    const bool is_set = !item.fields.empty() && std::all_of(item.fields.begin(), item.fields.end(),
                                                            [&](const std::string& field) {
                                                              return written_.is_overridden(field);
                                                            });
    return is_set ? "--set " + item.fields.front() : "";
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
    return usual_micro_batches();
  }

  // What --set says of accumulation goes before a configuration, as of every field.
  std::optional<std::int64_t> set_accumulation() const {
    return written_.is_overridden(kAccumulation) ? std::optional(written_.whole(kAccumulation))
                                                 : std::nullopt;
  }

  // 0, and a reason, if there is none.
  std::size_t find_accumulation(const std::optional<FrameworkConfig>& config, int ranks,
                                std::size_t batch) {
    if (const auto set = set_accumulation()) {
      return static_cast<std::size_t>(*set);
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
    std::size_t rows = batch * static_cast<std::size_t>(ranks);
    if (const auto accumulation = set_accumulation()) {
      rows *=
          static_cast<std::size_t>(std::clamp<std::int64_t>(*accumulation, 1, kMostAccumulation));
    } else {
      all.push_back(own(place, "training.micro_batches", "1"));  // Points set theirs.
    }
    all.push_back(own(place, "training.global_batch", std::to_string(rows)));
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
    return comma_joined(
        usual_strategies(static_cast<std::size_t>(ranks), devices_per_node_, is_on_host()));
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

}  // namespace shardscope
