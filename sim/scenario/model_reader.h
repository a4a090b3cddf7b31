// Reads model: a perceptron's widths, a transformer, or a Hugging Face configuration.
#pragma once

#include <filesystem>

#include "sim/scenario/message_text.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// Sets the scenario's model, model_file, model_notes and seed. `hf_config` is the absolute path of
/// model.hf_config, empty if it is not given. Faults are reported to `text`.
void read_model(MessageText& text, const std::filesystem::path& hf_config, Scenario& scenario);

}  // namespace shardscope
