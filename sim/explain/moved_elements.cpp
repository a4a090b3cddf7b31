#include "sim/explain/moved_elements.h"

#include <utility>

#include "core/check.h"
#include "core/training/buckets.h"
#include "core/training/gather_plan.h"

namespace shardscope {
namespace {

using Kind = MovedElements::Kind;
using Columns = std::vector<std::size_t>;
using Units = std::vector<std::size_t>;

struct Gather {
  Units units;
  bool is_prefetch = false;
};

std::vector<Gather> gathers_of(const Strategy& strategy, const Layout& layout,
                               const Scenario& scenario, bool first_step) {
  const std::vector<LayerUse> uses =
      ActivationCheckpoints(scenario.model, scenario.training.activation_checkpointing).uses();
  std::vector<Gather> gathers;
  for (const GatherStep& step : make_gather_plan(strategy, layout.geometry(), uses, first_step)) {
    if (!step.fetch.empty()) {
      gathers.push_back({step.fetch, false});
    }
    for (const Units& units : step.prefetch) {
      gathers.push_back({units, true});
    }
  }
  return gathers;
}

class Mover {
 public:
  Mover(const Scenario& scenario, const Strategy& strategy, const Layout& layout, bool first_step)
      : scenario_(scenario),
        strategy_(strategy),
        layout_(layout),
        buckets_(make_buckets(strategy.reduction.buckets, layout.geometry(),
                              size_of(scenario.training.accumulate_precision()))),
        gathers_(gathers_of(strategy, layout, scenario, first_step)) {}

  MovedElements next(const Moment& moment) {
    const CollectiveLog& log = *moment.collective;
    if (log.purpose != Purpose::data) {
      return {};
    }
    switch (log.operation) {
      case Operation::all_gather:
        return moment.position.phase == Phase::optimizer ? publish() : gather();
      case Operation::broadcast:
        return broadcast(log);
      default:
        return is_shard_group(log.group) ? reduce(log) : across(log);
    }
  }

 private:
  bool is_shard_group(const RankGroup& group) const {
    return group.size == layout_.group_size() && group.stride == 1;
  }

  // The same for every rank.
  MovedElements for_all(Kind kind, const std::vector<Columns>& chunks) const {
    MovedElements moved;
    moved.kind = kind;
    moved.columns.assign(static_cast<std::size_t>(scenario_.world_size), chunks);
    return moved;
  }

  // Chunk c is the shards c of the units, one after another.
  std::vector<Columns> by_shard(const Units& units) const {
    std::vector<Columns> chunks(static_cast<std::size_t>(layout_.group_size()));
    for (int rank = 0; rank < layout_.group_size(); ++rank) {
      for (const std::size_t unit : units) {
        const Columns shard = layout_.shard(unit, rank);
        Columns& chunk = chunks[static_cast<std::size_t>(rank)];
        chunk.insert(chunk.end(), shard.begin(), shard.end());
      }
    }
    return chunks;
  }

  static std::vector<Columns> cut(const Columns& columns, const CollectiveLog& log) {
    SHARDSCOPE_CHECK(columns.size() == log.chunking.count, "a collective of other elements");
    std::vector<Columns> chunks;
    for (int c = 0; c < log.group.size; ++c) {
      const auto begin = columns.begin() + static_cast<std::ptrdiff_t>(log.chunking.offset(c));
      chunks.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(log.chunking.size(c)));
    }
    return chunks;
  }

  MovedElements gather() {
    const Gather& gather = gathers_[gather_++ % gathers_.size()];
    return for_all(gather.is_prefetch ? Kind::prefetch : Kind::gather, by_shard(gather.units));
  }

  // Sharded parameters are published as far as they are whole on every rank.
  MovedElements publish() const {
    const std::vector<ShardUnit>& units = layout_.geometry().units();
    Units published;
    for (std::size_t u = 0; u < units.size(); ++u) {
      if (strategy_.parameters == Placement::replicated || is_persistent(strategy_, units[u])) {
        published.push_back(u);
      }
    }
    return for_all(Kind::publish, by_shard(published));
  }

  MovedElements broadcast(const CollectiveLog& log) {
    const ShardUnit& unit = layout_.geometry().units()[broadcast_++];
    MovedElements moved =
        for_all(Kind::publish, cut(layout_.parameters(unit.offset, unit.count), log));
    moved.root = *unit.owner;
    return moved;
  }

  Units units_of(const Bucket& bucket) const {
    Units units;
    for (std::size_t u = layout_.geometry().unit_of_tensor(bucket.first_tensor);
         u <= layout_.geometry().unit_of_tensor(bucket.last_tensor); ++u) {
      units.push_back(u);
    }
    return units;
  }

  MovedElements reduce(const CollectiveLog& log) {
    bucket_ = reductions_++ % buckets_.size();
    const Bucket& bucket = buckets_[bucket_];
    MovedElements moved =
        for_all(Kind::reduce, log.operation == Operation::reduce_scatter
                                  ? by_shard(units_of(bucket))
                                  : cut(layout_.parameters(bucket.offset, bucket.count), log));
    moved.bucket = bucket_;
    return moved;
  }

  // Of the bucket that was reduced before, or of all that is kept.
  MovedElements across(const CollectiveLog& log) const {
    MovedElements moved;
    moved.kind = Kind::across;
    for (int rank = 0; rank < scenario_.world_size; ++rank) {
      const int member = layout_.group_rank(rank);
      const Columns own =
          strategy_.reduce_across_every_micro_step
              ? by_shard(units_of(buckets_[bucket_]))[static_cast<std::size_t>(member)]
              : layout_.owned(member);
      moved.columns.push_back(cut(own, log));
    }
    return moved;
  }

  const Scenario& scenario_;
  const Strategy& strategy_;
  const Layout& layout_;
  std::vector<Bucket> buckets_;
  std::vector<Gather> gathers_;  // Of a micro-step.
  std::size_t gather_ = 0;       // The next one, and so on.
  std::size_t reductions_ = 0;
  std::size_t broadcast_ = 0;
  std::size_t bucket_ = 0;  // Reduced last.
};

}  // namespace

std::vector<MovedElements> moved_elements(const Scenario& scenario, const Strategy& strategy,
                                          const Layout& layout, bool first_step,
                                          const StepLog& log) {
  Mover mover(scenario, strategy, layout, first_step);
  std::vector<MovedElements> moved;
  for (const Moment& moment : log.moments) {
    if (moment.collective.has_value()) {
      moved.push_back(mover.next(moment));
    }
  }
  return moved;
}

}  // namespace shardscope
