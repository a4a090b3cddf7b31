#include "sim/plan/read_plan.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "scenarios/scenario.pb.h"
#include "sim/plan/candidates.h"
#include "sim/report/format.h"
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
        written_(request.file.path, request.file.contents, request.overrides, message_),
        is_file_(says("cluster.file") ||
                 std::any_of(request.defaults.begin(), request.defaults.end(), [](const auto& set) {
                   return set.assignment.starts_with("cluster.file=");
                 })) {}

  std::optional<Plan> read() {
    refuse_varied();
    const int ranks = find_ranks().front();
    const std::optional<Scenario> any = parse(overrides({}, ranks, 1));
    if (!any.has_value() || !faults_.empty()) {
      return std::nullopt;
    }
    choose_precision(*any, ranks);
    if (any->model.transformer.has_value()) {
      hidden_ = any->model.transformer->hidden;
    }
    note_cluster(any->cluster);
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

  // Of nodes that a file describes.
  static std::size_t nics_of_read_node(const Cluster& cluster) {
    if (cluster.read == nullptr || cluster.devices_per_node == 0) {
      return 0;
    }
    std::size_t nics = 0;
    for (NodeId id = 0; id < cluster.read->node_count(); ++id) {
      nics += cluster.read->node(id).kind == NodeKind::nic ? 1 : 0;
    }
    const std::size_t nodes = cluster.read->devices().size() / cluster.devices_per_node;
    return nodes == 0 ? 0 : nics / nodes;
  }

  // Of a file that describes all of it, how many devices there are.
  void note_cluster(const Cluster& cluster) {
    devices_per_node_ = cluster.devices_per_node;
    built_nodes_ = cluster.spec.node.has_value();
    nics_ = built_nodes_ ? cluster.spec.node->nics : nics_of_read_node(cluster);
    if (cluster.platform.has_value()) {
      devices_ = cluster.platform->hosts.size();
    } else if (cluster.read != nullptr) {
      devices_ = cluster.read->devices().size();
    }
  }

  // The device's faster half type, bf16 if they are alike.
  void choose_precision(const Scenario& with_bf16, int ranks) {
    if (says("training.precision")) {
      return;
    }
    default_precision_ = "FP16";
    std::vector<Fault> none;
    const auto with_fp16 =
        parse_scenario(request_.file, overrides({}, ranks, 1), request_.platforms, none);
    if (!with_fp16.has_value() ||
        with_fp16->device.peak_flops_per_s <= with_bf16.device.peak_flops_per_s) {
      default_precision_ = "BF16";
    }
  }

  // Whether nobody says how many, nor does a file that describes the whole cluster.
  bool ranks_are_usual() const {
    return request_.ranks.empty() && !config_ranks().has_value() && !says("cluster.world_size") &&
           devices_ == 0 && !is_file_;
  }

  std::vector<int> find_ranks() const {
    if (!request_.ranks.empty()) {
      return request_.ranks;
    }
    if (const auto ranks = config_ranks()) {
      return {*ranks};
    }
    if (says("cluster.world_size")) {
      return {static_cast<int>(written_.whole("cluster.world_size"))};
    }
    if (ranks_are_usual()) {
      return usual_ranks();
    }
    return {std::max(1, static_cast<int>(devices_))};
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

  // Its machines are nodes of the cluster.
  void refuse_other_machines(const FrameworkConfig& config) {
    if (!request_.ranks.empty() || !config.processes.has_value() || !built_nodes_) {
      return;
    }
    const int machines = config.machines.value_or(1);
    const auto each = static_cast<std::size_t>(*config.processes / machines);
    if (each > devices_per_node_ || (machines > 1 && each < devices_per_node_)) {
      add_new({{.place = request_.config->file.path.string(),
                .field = "num_machines",
                .problem = plural(static_cast<std::size_t>(machines), "machine") + " of " +
                           plural(each, "process") + " each, where the cluster's nodes have " +
                           plural(devices_per_node_, "device"),
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

  // The option that says otherwise than a key of the configuration; none if empty.
  std::string option_before(const ConfigItem& item) const {
    const auto is = [&](std::string_view key) { return item.key.ends_with(key); };
    if (is("train_micro_batch_size_per_gpu") && !request_.micro_batches.empty()) {
      return "--micro-batch";
    }
    if ((is("num_processes") || is("num_machines")) && !request_.ranks.empty()) {
      return "--ranks";
    }
    if ((is("train_batch_size") || is("gradient_accumulation_steps")) &&
        written_.is_overridden(kAccumulation)) {
      return "--set " + std::string(kAccumulation);
    }
    const auto set =
        std::find_if(item.fields.begin(), item.fields.end(),
                     [&](const std::string& field) { return written_.is_overridden(field); });
    return set != item.fields.end() ? "--set " + *set : "";
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

  // What --set says of accumulation goes before a configuration, as of every field, and the
  // scenario where there is none.
  std::optional<std::int64_t> given_accumulation(bool has_config) const {
    const bool is_given = has_config ? written_.is_overridden(kAccumulation) : says(kAccumulation);
    return is_given ? std::optional(written_.whole(kAccumulation)) : std::nullopt;
  }

  // 0, and a reason, if there is none.
  std::size_t find_accumulation(const std::optional<FrameworkConfig>& config, int ranks,
                                std::size_t batch) {
    if (const auto given = given_accumulation(config.has_value())) {
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

  std::vector<Override> overrides(const Variant& variant, int ranks, std::size_t batch) const {
    std::vector<Override> all = request_.defaults;
    const auto add = [&](const std::vector<Override>& more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    const std::string place = "--ranks " + std::to_string(ranks);
    if (!says("training.precision")) {
      all.push_back(own("plan", "training.precision", default_precision_));
    }
    // As NCCL, a ring for each NIC.
    if (nics_ > 1 && static_cast<std::size_t>(ranks) > devices_per_node_ &&
        !says("cluster.collective.channels") && !says("cluster.collective.algorithm")) {
      all.push_back(own("plan", "cluster.collective.channels",
                        std::to_string(std::min(nics_, kMostChannels))));
    }
    if (variant.config.has_value()) {
      add_config(*variant.config, all);
      if (variant.config->optimizer_offload == Offload::cpu) {
        all.push_back(
            own(request_.config->file.path.string(), "training.optimizer_offload", "CPU"));
      }
    }
    const std::optional<std::string> names =
        variant.strategies.has_value() ? variant.strategies : strategies_without_config(ranks);
    if (!variant.config.has_value() && has_hybrid(names) && !says("options.shard_group_size") &&
        has_copies_by_node(static_cast<std::size_t>(ranks), devices_per_node_)) {
      all.push_back(own("plan", "options.shard_group_size", std::to_string(devices_per_node_)));
    }
    add(request_.overrides);
    all.push_back(own(place, "cluster.world_size", std::to_string(ranks)));
    std::size_t rows = batch * static_cast<std::size_t>(ranks);
    if (const auto accumulation = given_accumulation(variant.config.has_value())) {
      rows *=
          static_cast<std::size_t>(std::clamp<std::int64_t>(*accumulation, 1, kMostAccumulation));
    } else {
      all.push_back(own(place, "training.micro_batches", "1"));  // Points set theirs.
    }
    all.push_back(own(place, "training.global_batch", std::to_string(rows)));
    if (names.has_value()) {
      all.push_back(
          own(request_.strategies.has_value() ? "--strategy " + *request_.strategies : place,
              "strategies", *names));
    }
    return all;
  }

  // What follows from the precision that it asks for does not from another one.
  void add_config(const FrameworkConfig& config, std::vector<Override>& all) const {
    for (const Override& set : config.overrides) {
      const std::string field = set.assignment.substr(0, set.assignment.find('='));
      const auto& of_precision = config.fields_of_precision;
      const bool follows =
          std::find(of_precision.begin(), of_precision.end(), field) != of_precision.end();
      if (!follows || !written_.is_overridden("training.precision")) {
        all.push_back(set);
      }
    }
  }

  // Whether it is among the names or, if there are none, the scenario's strategies.
  bool has_hybrid(const std::optional<std::string>& names) const {
    std::vector<std::string> all;
    if (names.has_value()) {
      all = comma_list(*names);
    }
    for (int i = 0; !names.has_value() && i < written_.count("strategies"); ++i) {
      all.push_back(written_.enumerator("strategies", i));
    }
    return std::find(all.begin(), all.end(), "FSDP_HYBRID_SHARD") != all.end();
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
  std::string default_precision_ = "BF16";
  bool is_file_ = false;  // The cluster is of a topology file.
  bool built_nodes_ = false;
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
