// The scenario's `options`: what they change in the frameworks' strategies.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/training/strategy.h"
#include "sim/scenario/message_text.h"

namespace shardscope {

/// Applies each option that is given to the strategies that have it. Refuses values out of range,
/// and options that none of the strategies has.
void apply_options(MessageText& text, int world_size, std::vector<Strategy>& strategies);

/// The options that the strategy has and what they are, by their names in a scenario and as they
/// are written there: what its preset stands for. Empty for the papers' strategies.
std::vector<std::pair<std::string, std::string>> options_of(const Strategy& strategy,
                                                            int world_size);

}  // namespace shardscope
