// A sweep's results as data for programs: its findings, and all that its page shows.
#pragma once

#include <string>
#include <vector>

#include "sim/sweep/findings.h"
#include "sim/sweep/grid.h"

namespace Json {
class Value;
}  // namespace Json

namespace shardscope {

/// The text of findings.json:
///
///   { "sweep": DIGEST, "findings": [ { "kind": "overtakes" | "communication_exceeds_compute" |
///       "saturates" | "out_of_memory", "text": a sentence, "axis": its index, "at": number,
///       "between": [low, high], "strategies": [NAME], "fixed": { FIELD: VALUE },
///       "leads": of overtakes, "above": of communication_exceeds_compute } ] }
///
/// Numbers are in base units. "axis" is missing where every point is meant, and in a category "at"
/// is missing and "between" has texts.
std::string findings_json(const Sweep& sweep, const std::vector<Finding>& findings);

/// What the page of a sweep is made of.
Json::Value page_data(const Grid& grid, const std::vector<Finding>& findings);

}  // namespace shardscope
