// DeepSpeed's memory estimators beside the table of formulas: what they say, and what they leave
// out.
#pragma once

#include <string>

#include "sim/report/memory_table.h"

namespace Json {
class Value;
}

namespace shardscope {

/// For each model of the request, which has a largest layer, a table of the estimates and of the
/// states of ZERO2 and ZERO3 by `formula`, in GiB (2^30 B) as DeepSpeed prints them; then in words
/// what each leaves out. 80 columns, ends with a newline.
std::string deepspeed_estimates_text(const MemoryRequest& request,
                                     const StateBytesFormula& formula);

/// The same as JSON: {"largest_layer", "rows": [{"parameters", "world_size", "stage",
/// "optimizer_offload": "NONE" or "CPU", "total_bytes"}], "leaves_out": [{"stage",
/// "optimizer_offload", "terms": [...]}]}.
Json::Value deepspeed_estimates_json(const MemoryRequest& request);

}  // namespace shardscope
