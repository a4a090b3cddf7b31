// What `run --chakra PREFIX` writes.
#pragma once

#include <string>

#include "sim/cli/output.h"

namespace shardscope {

class RunResult;
struct Scenario;

/// Before the run: why there can be no such trace of it.
void check_chakra(const std::string& prefix, const Scenario& scenario, Messages& messages);

/// After it. What the files leave to know goes to standard error. The exit code: 0, also if the run
/// did not complete and there is nothing to write.
int write_chakra_trace(const std::string& prefix, const Scenario& scenario, const RunResult& run);

}  // namespace shardscope
