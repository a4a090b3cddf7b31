// The catalogue of platforms for reading.
#pragma once

#include <cstddef>
#include <string>

#include "sim/report/page.h"
#include "sim/scenario/platforms.h"

namespace shardscope {

/// A table each of the devices, nodes and fabrics; ends with a newline.
std::string platforms_text(const Platforms& platforms, bool colour,
                           std::size_t width = kReportWidth);

/// All figures of one entry.
void write_entry(Page& page, const PlatformEntry<DevicePreset>& entry);
void write_entry(Page& page, const PlatformEntry<NodePreset>& entry);
void write_entry(Page& page, const PlatformEntry<FabricPreset>& entry);

}  // namespace shardscope
