// What the user gave a plan: a scenario's file and --set, field by field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/scenario.pb.h"
#include "sim/plan/plan_request.h"
#include "sim/scenario/message_text.h"

namespace shardscope {

class GivenFields {
 public:
  /// The request must outlive it. Faults are reported when the scenario is read.
  explicit GivenFields(const PlanRequest& request);
  GivenFields(const GivenFields&) = delete;
  GivenFields& operator=(const GivenFields&) = delete;

  /// Whether the user gave the field, and whether by --set.
  bool says(std::string_view field) const;
  bool is_set(std::string_view field) const { return written_.is_overridden(field); }

  /// Micro-steps of a step: what --set says goes before a configuration, as of every field, and the
  /// scenario where there is none.
  std::optional<std::int64_t> accumulation(bool has_config) const;

  /// cluster.world_size, if it is given.
  std::optional<int> ranks() const;

  /// The scenario's.
  std::vector<std::string> strategies() const;

  bool is_on_host() const { return written_.enumerator("training.optimizer_offload") == "CPU"; }

  /// Whether the cluster is a topology file's.
  bool has_cluster_file() const;

  /// The option that says otherwise than a key of the configuration; none if empty.
  std::string option_before(const ConfigItem& item) const;

  /// A fault for each field that is set and is for the plan to choose.
  std::vector<Fault> chosen_fields() const;

 private:
  const PlanRequest& request_;
  schema::Scenario message_;
  MessageText written_;
};

}  // namespace shardscope
