// Recordings as Chrome trace events, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
// Format: "Trace Event Format", the Chromium project, 2016.
//
// A process per strategy and rank, with the threads compute, communication, sends and receives. Of
// compute, kernels and waits fill the step; of communication, collectives add up to the busy time.
// A flow arrow leads from each send to its receive. Times are simulated, in microseconds; every
// strategy begins at 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace shardscope {

class RunResult;

struct ChromeTrace {
  std::string text;
  std::string cut;    ///< What was left out to bound the size: "DDP, ZERO1: steps 3..20"; or empty.
  std::string flows;  ///< Whose collectives are flows and have no messages: "DDP, ZERO1"; or empty.
};

/// About 150 MB.
inline constexpr std::size_t kMostTraceEvents = 1'000'000;

/// Of the runs that completed and recorded steps first..last, by strategy, then step. A step that
/// would make more than `most_events` and those after it are left out.
ChromeTrace chrome_trace(const std::string& scenario, const std::string& version,
                         const std::vector<RunResult>& runs, std::int64_t first_step,
                         std::int64_t last_step, std::size_t most_events = kMostTraceEvents);

}  // namespace shardscope
