// The formulas of what is held and sent, with the numbers of the step beside them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/training/formulas.h"
#include "core/training/strategy.h"
#include "sim/explain/marks.h"
#include "sim/explain/moved_elements.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// "20 B" if it is the same for every rank, else "18 and 20 B (ranks 0 to 1)".
std::string bytes_per_rank(int world_size, const std::function<std::uint64_t(int rank)>& bytes);

/// What a rank sends in the ranks' collective, by the formula and as it was.
std::string wire_sentence(const Marks& marks, const MovedElements& moved);

/// Model states and sent bytes of the whole step by formula, the latter as planned.
std::string memory_formula(const Strategy& strategy, const Scenario& scenario);
std::string wire_formula(const Strategy& strategy, const Scenario& scenario, StepKind kind,
                         const CollectivePlanner& planner);

}  // namespace shardscope
