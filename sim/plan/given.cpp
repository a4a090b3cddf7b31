#include "sim/plan/given.h"

#include <algorithm>

namespace shardscope {
namespace {

constexpr std::string_view kAccumulation = "training.micro_batches";

// A plan sets these itself.
const std::vector<std::string> kVaried = {"training.global_batch", "training.steps",
                                          "training.activation_checkpointing", "strategies"};

bool gives(const MessageText& text, std::string_view field) {
  return field == "strategies" ? text.count(field) > 0 : text.has(field);
}

}  // namespace

GivenFields::GivenFields(const PlanRequest& request)
    : request_(request),
      written_(request.file.path, request.file.contents, request.overrides, message_) {}

bool GivenFields::says(std::string_view field) const { return gives(written_, field); }

std::optional<std::int64_t> GivenFields::accumulation(bool has_config) const {
  const bool is_given = has_config ? is_set(kAccumulation) : says(kAccumulation);
  return is_given ? std::optional(written_.whole(kAccumulation)) : std::nullopt;
}

std::optional<int> GivenFields::ranks() const {
  return says("cluster.world_size")
             ? std::optional(static_cast<int>(written_.whole("cluster.world_size")))
             : std::nullopt;
}

std::vector<std::string> GivenFields::strategies() const {
  std::vector<std::string> all;
  for (int i = 0; i < written_.count("strategies"); ++i) {
    all.push_back(written_.enumerator("strategies", i));
  }
  return all;
}

bool GivenFields::has_cluster_file() const {
  return says("cluster.file") ||
         std::any_of(request_.defaults.begin(), request_.defaults.end(), [](const Override& set) {
           return set.assignment.starts_with("cluster.file=");
         });
}

std::string GivenFields::option_before(const ConfigItem& item) const {
  const auto is = [&](std::string_view key) { return item.key.ends_with(key); };
  if (is("train_micro_batch_size_per_gpu") && !request_.micro_batches.empty()) {
    return "--micro-batch";
  }
  if ((is("num_processes") || is("num_machines")) && !request_.ranks.empty()) {
    return "--ranks";
  }
  if ((is("train_batch_size") || is("gradient_accumulation_steps")) && is_set(kAccumulation)) {
    return "--set " + std::string(kAccumulation);
  }
  const auto set = std::find_if(item.fields.begin(), item.fields.end(),
                                [&](const std::string& field) { return is_set(field); });
  return set != item.fields.end() ? "--set " + *set : "";
}

std::vector<Fault> GivenFields::chosen_fields() const {
  std::vector<Fault> faults;
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
        faults.push_back({set.argument,
                          field,
                          "is what the plan chooses",
                          "--ranks, --micro-batch and --strategy say among what",
                          {}});
      }
    }
  }
  return faults;
}

}  // namespace shardscope
