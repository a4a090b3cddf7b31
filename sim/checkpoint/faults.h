// Making a fault of a checkpoint's file.
#pragma once

#include <string>
#include <utility>

#include "sim/text/fault.h"

namespace shardscope {

/// `place` is the path of the file or folder; `field` may be empty.
inline Fault fault_at(std::string place, std::string field, std::string problem,
                      std::string allowed = "", std::string nearest = "") {
  Fault fault;
  fault.place = std::move(place);
  fault.field = std::move(field);
  fault.problem = std::move(problem);
  fault.allowed = std::move(allowed);
  fault.nearest = std::move(nearest);
  return fault;
}

}  // namespace shardscope
