#include "sim/text/fault_list.h"

#include <utility>

namespace shardscope {
namespace {

constexpr std::size_t kMostFaults = 100;

}  // namespace

FaultList::~FaultList() {
  if (count_ > kMostFaults) {
    faults_.push_back({.place = path_,
                       .field = {},
                       .problem = "has " + std::to_string(count_ - kMostFaults) + " more faults",
                       .allowed = {},
                       .nearest = {}});
  }
}

void FaultList::add_at(std::size_t line, std::size_t column, std::string field, std::string problem,
                       std::string allowed, std::string nearest) {
  if (++count_ > kMostFaults) {
    return;
  }
  std::string place = path_;
  place += line == 0 ? "" : ":" + std::to_string(line);
  place += line == 0 || column == 0 ? "" : ":" + std::to_string(column);
  faults_.push_back({.place = std::move(place),
                     .field = std::move(field),
                     .problem = std::move(problem),
                     .allowed = std::move(allowed),
                     .nearest = std::move(nearest)});
}

}  // namespace shardscope
