#include "sim/scenario/fault_log.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/scenario/field_paths.h"

namespace shardscope {

void FaultLog::add(std::size_t part, Position position, Fault fault) {
  faults_.push_back({part, position, std::move(fault)});
}

void FaultLog::drop_behind(std::size_t part, Position position) {
  std::erase_if(faults_, [&](const PlacedFault& other) {
    return other.part == part && std::tie(other.position.line, other.position.column) >
                                     std::tie(position.line, position.column);
  });
}

bool FaultLog::is_refused(std::string_view path) const {
  return std::any_of(refused_.begin(), refused_.end(),
                     [&](const std::string& refused) { return covers(refused, path); });
}

std::vector<Fault> FaultLog::in_order(const MessageParts& parts) const {
  std::vector<PlacedFault> placed = faults_;
  std::stable_sort(placed.begin(), placed.end(), [](const PlacedFault& a, const PlacedFault& b) {
    return std::tie(a.part, a.position.line, a.position.column) <
           std::tie(b.part, b.position.line, b.position.column);
  });
  std::vector<Fault> faults;
  faults.reserve(placed.size());
  for (PlacedFault& item : placed) {
    if (item.fault.place.empty()) {
      item.fault.place = format_place(parts[item.part], item.position);
    }
    faults.push_back(std::move(item.fault));
  }
  return faults;
}

}  // namespace shardscope
