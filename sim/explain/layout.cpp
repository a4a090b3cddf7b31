#include "sim/explain/layout.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/check.h"

namespace shardscope {

Layout::Layout(const Strategy& strategy, const ModelSpec& model, int world_size)
    : group_size_(shard_group_ranks(strategy, world_size)),
      geometry_(strategy, model, group_size_) {
  for (const ShardUnit& unit : geometry_.units()) {
    add_unit(unit);
  }
}

void Layout::add_unit(const ShardUnit& unit) {
  std::vector<std::string> names;
  for (std::size_t tensor = unit.first_tensor; tensor <= unit.last_tensor; ++tensor) {
    const std::string name =
        (tensor % 2 == 0 ? "W" : "b") + std::to_string(tensor / 2) + std::string(".");
    for (std::size_t i = 0; i < geometry_.tensor_elements(tensor); ++i) {
      names.push_back(name + std::to_string(i));
    }
  }
  names.resize(unit.full_count, "pad");
  for (std::string& name : names) {
    columns_.push_back({std::move(name)});
  }
}

std::vector<std::size_t> Layout::parameters(std::size_t begin, std::size_t count) const {
  std::vector<std::size_t> columns;
  for (const ShardUnit& unit : geometry_.units()) {
    for (std::size_t i = std::max(begin, unit.offset);
         i < std::min(begin + count, unit.offset + unit.count); ++i) {
      columns.push_back(unit.full_offset + (i - unit.offset));
    }
  }
  return columns;
}

std::vector<std::size_t> Layout::shard(std::size_t unit, int group_rank) const {
  const OwnedPart own = geometry_.owned(unit, group_rank);
  std::vector<std::size_t> columns(own.count);
  std::iota(columns.begin(), columns.end(), geometry_.units()[unit].full_offset + own.begin);
  return columns;
}

std::vector<std::size_t> Layout::owned(int group_rank) const {
  std::vector<std::size_t> columns;
  for (std::size_t u = 0; u < geometry_.units().size(); ++u) {
    const std::vector<std::size_t> part = shard(u, group_rank);
    columns.insert(columns.end(), part.begin(), part.end());
  }
  return columns;
}

std::vector<std::size_t> Layout::owners() const {
  std::vector<std::size_t> parts(columns_.size());
  std::size_t part = 0;
  for (std::size_t u = 0; u < geometry_.units().size(); ++u) {
    for (int rank = 0; rank < group_size_; ++rank) {
      for (const std::size_t column : shard(u, rank)) {
        parts[column] = part;
      }
      ++part;
    }
  }
  return parts;
}

Layout::Values Layout::spread_state(const std::vector<float>& state, int rank) const {
  Values values(columns_.size());
  if (state.size() == geometry_.full_elements()) {
    std::copy(state.begin(), state.end(), values.begin());
    return values;
  }
  if (state.empty()) {
    return values;
  }
  const std::vector<std::size_t> owned_columns = owned(group_rank(rank));
  SHARDSCOPE_CHECK(state.size() == owned_columns.size(), "a state of an unknown layout");
  for (std::size_t i = 0; i < state.size(); ++i) {
    values[owned_columns[i]] = state[i];
  }
  return values;
}

Layout::Values Layout::only_owned(Values values, int rank) const {
  Values mine(values.size());
  for (const std::size_t column : owned(group_rank(rank))) {
    mine[column] = values[column];
  }
  return mine;
}

}  // namespace shardscope
