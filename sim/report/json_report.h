// The machine-readable report. Names and structure are a contract with those who read it:
//
//   { "shardscope": VERSION, "scenario": NAME, "digest": HEX, "assumptions": {...},
//     "runs": [ { "strategy", "world_size", "parameters",
//       "outcome": "completed" | "out_of_memory" | "failed", "weights_digest": HEX,
//       "resumed_from": FOLDER,
//       "out_of_memory": { "rank", "step", "phase", "layer", "category", "wanted_bytes",
//                          "free_bytes" },
//       "failure": TEXT,
//       "limiting_factor": { "name", "shares": { NAME: share of the wall-clock time } },
//       "critical_path": { "step", "rank", "length_s",
//                          "phases", "layers", "links": { NAME: share of the length },
//                          "what_if": { "communication_free_s", "bandwidth_doubled_s",
//                                       "latency_zero_s", "device_doubled_s" } },
//       "steps": [ { "step", "loss", "grad_norm", "time": TIME } ],
//       "ranks": [ { "rank",
//          "memory": { "peak_bytes": {CATEGORY: n, "total": n}, "state_bytes": {CATEGORY: n},
//                      "predicted_state_bytes": {CATEGORY: n} },
//          "steps": [ { "time": TIME, "sent_bytes", "received_bytes",
//                       "predicted_sent_bytes" } ] } ] } ] }
//   TIME = { "wall_s", "forward_s", "backward_s", "optimizer_s", "checkpoint_s",
//            "exposed_communication_s", "busy_communication_s", "exposed_forward_s",
//            "exposed_backward_s", "exposed_optimizer_s" }, of a step also "last_rank", whose time
//            it is
//
// Numbers are JSON numbers; doubles are read back as they were; NaN and infinity are null. What a
// run does not have is left out: losses, gradient norms and the weights' digest of a shape-only
// run, out_of_memory and failure unless they are the outcome, a limiting factor without any time,
// a critical path that was not asked for or is of too many messages.
#pragma once

#include <string>
#include <vector>

#include "sim/report/context.h"

namespace shardscope {

struct Scenario;
class RunResult;

/// The report, one line per step and per rank's step, ends with a newline. ASCII only.
std::string json_report(const Scenario& scenario, const std::vector<RunResult>& runs,
                        const ReportContext& context);

/// An element of the report's "runs", on one line without its end.
std::string json_run(const RunResult& run);

}  // namespace shardscope
