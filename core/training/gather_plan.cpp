#include "core/training/gather_plan.h"

#include <algorithm>

namespace shardscope {
namespace {

using Kind = LayerUse::Kind;

class Planner {
 public:
  Planner(const Strategy& strategy, const ShardGeometry& geometry,
          const std::vector<LayerUse>& uses, bool first_step)
      : options_(strategy.gather),
        geometry_(geometry),
        uses_(uses),
        follows_trace_(options_.traced && !first_step),
        gathered_(geometry.units().size(), false),
        fetched_for_(geometry.units().size(), -1) {
    for (std::size_t u = 0; u < gathered_.size(); ++u) {
      persistent_.push_back(is_persistent(strategy, geometry.units()[u]));
      gathered_[u] = persistent_[u];
    }
  }

  std::vector<GatherStep> make() {
    for (std::size_t use = 0; use < uses_.size(); ++use) {
      GatherStep& step = steps_.emplace_back();
      fetch(use, step);
      if (follows_trace_) {
        prefetch_elements(use, step);
      } else if (!options_.traced) {
        prefetch_layers(use, step);
      }
      release(use, step);
    }
    return std::move(steps_);
  }

 private:
  const std::vector<std::size_t>& units_of(std::size_t use) const {
    return geometry_.units_used_by(uses_[use].layer);
  }

  std::size_t elements(std::size_t unit) const { return geometry_.units()[unit].count; }

  void gather(std::size_t unit) {
    gathered_[unit] = true;
    live_elements_ += elements(unit);
  }

  void fetch(std::size_t use, GatherStep& step) {
    for (const std::size_t unit : units_of(use)) {
      if (!gathered_[unit]) {
        gather(unit);
        step.fetch.push_back(unit);
      }
    }
    std::erase_if(under_way_, [&](std::size_t first_use) { return first_use <= use; });
  }

  // The layers that follow in the same pass.
  void prefetch_layers(std::size_t use, GatherStep& step) {
    for (std::size_t next = use + 1; next <= use + options_.prefetch_layers && next < uses_.size();
         ++next) {
      if ((uses_[next].kind == Kind::forward) != (uses_[use].kind == Kind::forward) ||
          static_cast<int>(under_way_.size()) >= options_.max_in_flight) {
        return;
      }
      std::vector<std::size_t> units = units_of(next);
      std::erase_if(units, [&](std::size_t unit) { return gathered_[unit]; });
      if (!units.empty()) {
        std::for_each(units.begin(), units.end(), [&](std::size_t unit) { gather(unit); });
        under_way_.push_back(next);
        step.prefetch.push_back(std::move(units));
      }
    }
  }

  // DeepSpeed's prefetch (partitioned_param_coordinator.py, fetch_sub_module): tensors in the order
  // of the trace until they are enough; those that are there already count as fetched for the later
  // use, and are kept for it.
  void prefetch_elements(std::size_t use, GatherStep& step) {
    if (next_use_ <= use) {
      next_use_ = use + 1;
      next_unit_ = 0;
    }
    for (const std::size_t unit : units_of(use)) {
      fetched_for_[unit] = std::max(fetched_for_[unit], static_cast<std::ptrdiff_t>(use));
    }
    if (options_.prefetch_elements == 0) {
      return;
    }
    const std::uint64_t room =
        options_.max_live_parameters -
        std::min<std::uint64_t>(live_elements_, options_.max_live_parameters);
    const std::uint64_t wanted = std::min(room, options_.prefetch_elements);
    std::vector<std::size_t> units;
    std::uint64_t prefetched = 0;
    while (next_use_ < uses_.size() && prefetched < wanted) {
      const std::vector<std::size_t>& candidates = units_of(next_use_);
      const std::size_t unit = candidates[next_unit_];
      fetched_for_[unit] = std::max(fetched_for_[unit], static_cast<std::ptrdiff_t>(next_use_));
      if (!gathered_[unit]) {
        gather(unit);
        units.push_back(unit);
        prefetched += elements(unit);
      }
      if (++next_unit_ == candidates.size()) {
        next_unit_ = 0;
        ++next_use_;
      }
    }
    if (!units.empty()) {
      step.prefetch.push_back(std::move(units));
    }
  }

  void release(std::size_t use, GatherStep& step) {
    for (const std::size_t unit : units_of(use)) {
      if (!persistent_[unit] && !is_kept(use, unit)) {
        gathered_[unit] = false;
        live_elements_ -= elements(unit);
        step.release.push_back(unit);
      }
    }
  }

  bool is_kept(std::size_t use, std::size_t unit) const {
    if (options_.keeps_root && geometry_.is_outside_blocks(unit)) {
      return is_used_again(use, unit);
    }
    if (follows_trace_) {
      return fetched_for_[unit] > static_cast<std::ptrdiff_t>(use) || is_used_soon(use, unit);
    }
    switch (uses_[use].kind) {
      case Kind::forward:
        return !options_.traced && !options_.reshard_after_forward;
      case Kind::recompute:  // Its backward may follow at once.
        return !options_.traced &&
               (!options_.reshard_after_forward || uses_[use + 1].layer == uses_[use].layer);
      case Kind::backward:
        return false;
    }
    return false;
  }

  bool is_used_again(std::size_t use, std::size_t unit) const {
    for (std::size_t next = use + 1; next < uses_.size(); ++next) {
      const std::vector<std::size_t>& units = units_of(next);
      if (std::find(units.begin(), units.end(), unit) != units.end()) {
        return true;
      }
    }
    return false;
  }

  // DeepSpeed's __params_to_release: layers are looked through until they amount to the distance.
  bool is_used_soon(std::size_t use, std::size_t unit) const {
    std::uint64_t traversed = 0;
    for (std::size_t next = use + 1; next < uses_.size() && traversed < options_.max_reuse_distance;
         ++next) {
      for (const std::size_t other : units_of(next)) {
        if (other == unit) {
          return true;
        }
        traversed += elements(other);
      }
    }
    return false;
  }

  const GatherOptions& options_;
  const ShardGeometry& geometry_;
  const std::vector<LayerUse>& uses_;
  bool follows_trace_;
  std::vector<bool> persistent_;
  std::vector<bool> gathered_;
  std::vector<std::ptrdiff_t> fetched_for_;  // The last use a unit was gathered or kept for.
  std::vector<std::size_t> under_way_;       // Uses that prefetched gathers are for.
  std::size_t next_use_ = 0;                 // What is to be prefetched next, with a trace.
  std::size_t next_unit_ = 0;
  std::uint64_t live_elements_ = 0;
  std::vector<GatherStep> steps_;
};

}  // namespace

bool is_persistent(const Strategy& strategy, const ShardUnit& unit) {
  return strategy.parameters == Placement::sharded &&
         unit.count <= strategy.gather.persistence_threshold;
}

std::vector<GatherStep> make_gather_plan(const Strategy& strategy, const ShardGeometry& geometry,
                                         const std::vector<LayerUse>& uses, bool first_step) {
  if (strategy.parameters == Placement::replicated) {
    return {};
  }
  return Planner(strategy, geometry, uses, first_step).make();
}

}  // namespace shardscope
