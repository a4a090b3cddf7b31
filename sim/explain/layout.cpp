#include "sim/explain/layout.h"

#include <algorithm>
#include <string>

#include "core/check.h"

namespace shardscope {
namespace {

// The units that a collective moves. Several of them lie whole in its data, one may be without its
// padding.
std::vector<ShardUnit> units_of(const ShardGeometry& geometry, LayerRange layers) {
  std::vector<ShardUnit> units;
  for (const ShardUnit& unit : geometry.units()) {
    if (unit.layers.first >= layers.first && unit.layers.last <= layers.last) {
      units.push_back(unit);
    }
  }
  return units;
}

}  // namespace

Layout::Layout(const Strategy& strategy, const ModelSpec& model, int world_size)
    : geometry_(strategy, model, world_size) {
  for (const ShardUnit& unit : geometry_.units()) {
    add_unit(unit, model);
  }
}

void Layout::add_unit(const ShardUnit& unit, const ModelSpec& model) {
  std::vector<std::string> names;
  for (std::size_t l = unit.layers.first; l <= unit.layers.last; ++l) {
    const LinearShape shape = model.layer(l);
    for (std::size_t i = 0; i < shape.elements(); ++i) {
      const bool weight = i < shape.weight_elements();
      names.push_back((weight ? "W" : "b") + std::to_string(l) + "." +
                      std::to_string(weight ? i : i - shape.weight_elements()));
    }
  }
  names.resize(unit.full_count, "pad");
  const auto index = static_cast<std::size_t>(&unit - geometry_.units().data());
  for (std::size_t i = 0; i < names.size(); ++i) {
    columns_.push_back(
        {.name = names[i], .unit = index, .chunk = static_cast<int>(i / unit.shard)});
  }
}

std::pair<std::size_t, std::size_t> Layout::columns_of(const CollectiveLog& log) const {
  const std::size_t first = units_of(geometry_, log.layers).front().full_offset;
  return {first, first + log.chunking.count};
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
  SHARDSCOPE_CHECK(state.size() == geometry_.owned_elements(rank), "a state of an unknown layout");
  for (std::size_t u = 0; u < geometry_.units().size(); ++u) {
    const OwnedPart own = geometry_.owned(u, rank);
    for (std::size_t i = 0; i < own.count; ++i) {
      values[geometry_.units()[u].full_offset + own.begin + i] = state[own.offset + i];
    }
  }
  return values;
}

Layout::Values Layout::only_owned(Values values, int rank) const {
  Values owned(values.size());
  for (std::size_t u = 0; u < geometry_.units().size(); ++u) {
    const OwnedPart own = geometry_.owned(u, rank);
    const std::size_t begin = geometry_.units()[u].full_offset + own.begin;
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(begin), own.count,
                owned.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  return owned;
}

Layout::Values Layout::spread_chunks(const CollectiveLog& log,
                                     const std::vector<std::vector<float>>& chunks) const {
  Values values(columns_.size());
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    if (!chunks[c].empty()) {
      put_chunk(log, static_cast<int>(c), chunks[c], values);
    }
  }
  return values;
}

Layout::Values Layout::spread_chunk(const CollectiveLog& log, int chunk,
                                    const std::vector<float>& values) const {
  Values spread(columns_.size());
  put_chunk(log, chunk, values, spread);
  return spread;
}

void Layout::put_chunk(const CollectiveLog& log, int chunk, const std::vector<float>& values,
                       Values& into) const {
  const std::vector<ShardUnit> units = units_of(geometry_, log.layers);
  std::size_t used = 0;
  for (const ShardUnit& unit : units) {
    const std::size_t count = units.size() == 1 ? log.chunking.count : unit.full_count;
    const Chunking chunking{count, unit.shard};
    for (std::size_t i = 0; i < chunking.size(chunk); ++i) {
      into[unit.full_offset + chunking.offset(chunk) + i] = values[used++];
    }
  }
  SHARDSCOPE_CHECK(used == values.size(), "a chunk of another size than its units'");
}

}  // namespace shardscope
