// A plan as JSON: "recommendations", "plans" (a member for each row of the table), "understood"
// (of a framework's configuration), "assumptions".
#pragma once

#include <string>

#include "sim/plan/plan.h"

namespace Json {
class Value;
}

namespace shardscope {

/// Members of "plans": strategy, ranks, micro_batch, accumulation, simulated_micro_steps (fewer
/// than accumulation where the others are alike), recompute, fits, outcome, parameters, peak_bytes,
/// device_memory_bytes, recommended; configured (what a framework's configuration asks for), where
/// there is one; of those that do not fit lacking_bytes, category and phase; of those that do
/// step_s, forward_s, backward_s, optimizer_s, exposed_communication_s, busy_communication_s (in
/// flight, waited for or not), tokens_per_s, model_flops_utilization, sent_inside_nodes_bytes and
/// sent_between_nodes_bytes (per rank and step, the mean), which are null otherwise. host_bytes is
/// that of a rank, where the optimizer is on the host.
Json::Value plan_value(const Plan& plan, const std::string& version);

/// The same as text, a line for each member.
std::string plan_json(const Plan& plan, const std::string& version);

}  // namespace shardscope
