// The moments of all ranks that belong together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/explain/step_log.h"

namespace shardscope {

/// A moment of each rank, in the logs.
using Marks = std::vector<const Moment*>;

/// The ranks' collective of that index; aborts if one has fewer.
Marks collective_marks(const std::vector<StepLog>& logs, std::size_t index);

/// A kernel that each rank has once; aborts if one has none.
Marks kernel_marks(const std::vector<StepLog>& logs, const std::string& kernel);

/// Where the ranks' update begins and where it ends; of a rank that owns nothing, the first and the
/// last moment of its optimizer.
Marks update_marks(const std::vector<StepLog>& logs);
Marks updated_marks(const std::vector<StepLog>& logs);

/// Where each rank holds most before its first collective.
Marks fullest_marks(const std::vector<StepLog>& logs);

/// Where the step begins and where it ends.
Marks first_marks(const std::vector<StepLog>& logs);
Marks last_marks(const std::vector<StepLog>& logs);

/// Bytes of all categories, and of the model states.
std::uint64_t held_bytes(const Moment& moment);
std::uint64_t state_bytes(const Moment& moment);

}  // namespace shardscope
