// Steps of many micro-steps from steps of few: after the first ones, micro-steps are alike.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "sim/result/result.pb.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// Numbers of micro-steps, equally far apart, each as many more than the one before.
using FewMicroSteps = std::array<std::size_t, 3>;

/// What is to be simulated instead of the scenario's: nothing if those are few, or if something of
/// its cluster changes with time.
std::optional<FewMicroSteps> few_micro_steps(const Scenario& scenario);

/// The figures of `wanted` micro-steps from those of few: time and bytes grow by what they grew
/// from the second to the third. Nothing unless they grew by the same from the first to the second
/// (times within 1e-10 of the step), and memory by nothing.
std::optional<PlanFigures> repeated(const std::array<PlanFigures, 3>& few,
                                    const FewMicroSteps& counts, std::size_t wanted);

}  // namespace shardscope
