// Reads cluster.device.
#pragma once

#include <filesystem>
#include <string>

#include "sim/scenario/message_text.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// The device of the scenario's precision, which has been read; `node_device` is the preset that
/// holds if none is named, empty for none. Faults are reported to `text`.
DeviceSpec read_device(MessageText& text, const std::filesystem::path& platforms, DType precision,
                       const std::string& node_device);

}  // namespace shardscope
