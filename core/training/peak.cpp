// The closed form of a rank's peak memory: a maximum over the moments of a step at which something
// was just allocated.
//
//   forward l     the layer fetched; then prefetched layers and its output
//   loss          all that is kept and the gradient of the last output, contiguous buffers
//   backward l    forward's moments again where the layer is recomputed; the layer fetched; then
//                 prefetched layers, the layer's gradient, dy and dx; then, dy gone, its bucket's
//                 memory, with what is in flight. From the last layer's backward to the first's
//                 its part of a tied tensor's gradient
//   end           what is reduced after backward, bucket by bucket
//   update        fp32 copies of gradients; staging of what is published; the norm
#include <algorithm>
#include <deque>
#include <vector>

#include "core/training/buckets.h"
#include "core/training/formulas.h"
#include "core/training/gather_plan.h"
#include "core/training/planned_collectives.h"
#include "core/training/shard_geometry.h"

namespace shardscope {
namespace {

class Peak {
 public:
  explicit Peak(const TrainingRank& rank)
      : strategy_(rank.strategy),
        reduction_(rank.strategy.reduction),
        model_(rank.model),
        options_(rank.options),
        ranks_(static_cast<std::uint64_t>(shard_group_ranks(strategy_, rank.world_size))),
        replicas_(static_cast<std::uint64_t>(rank.world_size) / ranks_),
        shard_group_(shard_group(rank)),
        replica_group_(replica_group(rank)),
        geometry_(strategy_, model_, static_cast<int>(ranks_)),
        buckets_(make_buckets(reduction_.buckets, geometry_, a())),
        checkpoints_(model_, options_.activation_checkpointing),
        rows_(options_.global_batch / static_cast<std::uint64_t>(rank.world_size) /
              options_.micro_batches),
        owned_(geometry_.owned_elements(rank.rank % static_cast<int>(ranks_))) {
    for (const std::uint64_t bytes : predicted_state_bytes(rank)) {
      constant_ += bytes;
    }
    constant_ += input_bytes();
    constant_ += reduction_.persistent_buckets ? a() * geometry_.full_elements() : 0;
    for (const ShardUnit& unit : geometry_.units()) {
      constant_ += is_persistent(strategy_, unit) ? b() * unit.full_count : 0;
    }
  }

  std::uint64_t bytes() {
    std::vector<std::size_t> micro_steps = {0, options_.micro_batches - 1};
    if (options_.micro_batches > 2) {
      micro_steps.push_back(1);
    }
    for (const bool first_step : {true, false}) {
      if (!first_step && options_.steps == 1) {
        break;
      }
      for (const std::size_t m : micro_steps) {
        walk(m, first_step);
      }
    }
    update();
    return constant_ + most_;
  }

 private:
  std::uint64_t b() const { return size_of(options_.precision); }
  std::uint64_t a() const { return size_of(options_.accumulate_precision()); }
  std::uint64_t w() const { return size_of(options_.reduce_precision); }

  // With the targets.
  std::uint64_t input_bytes() const {
    const std::size_t losses = model_.loss_rows(rows_);
    return size_of(model_.input_dtype(options_.precision)) * model_.input_elements(rows_) +
           (model_.loss == Loss::mse ? 4 * losses * model_.output_width() : 8 * losses);
  }

  // The output of a layer, and what else it keeps for its backward.
  std::uint64_t output(std::size_t layer) const {
    return b() * rows_ * model_.output_elements(layer);
  }
  std::uint64_t saved(std::size_t layer) const {
    return rows_ * model_.saved_bytes(layer, options_.precision);
  }
  std::uint64_t saved_in_forward(std::size_t layer) const {
    return checkpoints_.is_recomputed(layer) ? 0 : saved(layer);
  }

  bool keeps_shards() const { return strategy_.gradients == Placement::sharded; }
  bool scatters() const { return reduction_.collective == Reduction::reduce_scatter; }
  bool writes_whole_units() const {
    return keeps_shards() && scatters() && strategy_.partition == Partition::layer;
  }

  // What forward leaves of the layers below a layer.
  std::uint64_t kept_below(std::size_t layer) const {
    std::uint64_t bytes = 0;
    for (std::size_t l = 0; l < layer; ++l) {
      bytes += (checkpoints_.keeps_output(l) ? output(l) : 0) + saved_in_forward(l);
    }
    return bytes;
  }

  void moment(std::uint64_t bytes) {
    most_ = std::max(most_, bytes + gathered_ + gather_staging_ + gradients_ + tied_);
  }

  std::uint64_t whole(const std::vector<std::size_t>& units) const {
    std::uint64_t bytes = 0;
    for (const std::size_t unit : units) {
      bytes += b() * geometry_.units()[unit].full_count;
    }
    return bytes;
  }

  // Of an all_gather, which packs the chunks of several units.
  std::uint64_t staging(const std::vector<std::size_t>& units) const {
    std::uint64_t chunk = 0;
    for (const std::size_t unit : units) {
      chunk += geometry_.units()[unit].shard;
    }
    return shard_group_.staging_bytes(Operation::all_gather, ranks_ * chunk, options_.precision,
                                      units.size());
  }

  // Of an all_reduce of shards, or parts of them, over their replicas.
  std::uint64_t staging_across(std::uint64_t elements) const {
    return replica_group_.staging_bytes(Operation::all_reduce, elements, options_.reduce_precision);
  }

  void fetch(const GatherStep& step, std::size_t layer, std::uint64_t activations) {
    gathered_ += whole(step.fetch);
    gather_staging_ += staging(step.fetch);
    moment(activations);
    gather_staging_ -= staging(step.fetch);
    // What was prefetched for this layer is waited for.
    std::erase_if(prefetched_, [&](const std::vector<std::size_t>& units) {
      const std::vector<std::size_t>& used = geometry_.units_used_by(layer);
      const bool is_used = std::any_of(units.begin(), units.end(), [&](std::size_t unit) {
        return std::find(used.begin(), used.end(), unit) != used.end();
      });
      gather_staging_ -= is_used ? staging(units) : 0;
      return is_used;
    });
    for (const std::vector<std::size_t>& units : step.prefetch) {
      gathered_ += whole(units);
      gather_staging_ += staging(units);
      prefetched_.push_back(units);
      moment(activations);
    }
  }

  void walk(std::size_t micro_step, bool first_step) {
    micro_step_ = micro_step;
    gathered_ = 0;
    gradients_ = 0;
    gather_staging_ = 0;
    const std::vector<LayerUse> uses = checkpoints_.uses();
    std::vector<GatherStep> plan = make_gather_plan(strategy_, geometry_, uses, first_step);
    plan.resize(uses.size());
    std::uint64_t recomputed = 0;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const std::size_t l = uses[i].layer;
      switch (uses[i].kind) {
        case LayerUse::Kind::forward:
          use_forward(plan[i], l, kept_below(l) + temporary(l), saved_in_forward(l));
          break;
        case LayerUse::Kind::recompute: {
          const std::uint64_t below = kept_below(checkpoints_.segment_begin(l)) + dy_of_segment(l);
          recomputed = l == checkpoints_.segment_begin(l) ? 0 : recomputed;
          use_forward(plan[i], l, below + recomputed, saved(l));
          recomputed += output(l) + saved(l);
          break;
        }
        case LayerUse::Kind::backward:
          use_backward(plan[i], l);
          break;
      }
      gathered_ -= whole(plan[i].release);
      if (i + 1 < uses.size() && uses[i].kind == LayerUse::Kind::forward &&
          uses[i + 1].kind != LayerUse::Kind::forward) {
        if (reduces_now() && reduction_.time == ReductionTime::during_backward) {
          gradients_ += contiguous();
        }
        loss();
      }
      if (uses[i].kind == LayerUse::Kind::backward) {
        ready(l);
      }
    }
    end();
  }

  // A layer's input that is not kept for backward, while the layer computes.
  std::uint64_t temporary(std::size_t l) const {
    return l > 0 && !checkpoints_.keeps_output(l - 1) ? output(l - 1) : 0;
  }

  // While a segment is recomputed there is the gradient of its last output.
  std::uint64_t dy_of_segment(std::size_t l) const {
    return output(checkpoints_.segment_end(l) - 1);
  }

  void use_forward(const GatherStep& step, std::size_t l, std::uint64_t held, std::uint64_t saved) {
    fetch(step, l, held);
    moment(held + output(l) + saved);
  }

  void loss() {
    const std::size_t last = model_.layer_count() - 1;
    moment(kept_below(last) + 2 * output(last) + saved_in_forward(last));
  }

  // Outputs that are held in a layer's backward: its input, and what is needed below.
  std::uint64_t held_in_backward(std::size_t l) const {
    const std::size_t begin = checkpoints_.segment_begin(l);
    std::uint64_t bytes = kept_below(begin);
    for (std::size_t i = begin; i < l; ++i) {
      bytes += output(i) + saved(i);
    }
    return bytes;
  }

  void use_backward(const GatherStep& step, std::size_t l) {
    const std::uint64_t held = held_in_backward(l) + saved(l) + output(l);  // output(l): dy
    fetch(step, l, held);
    if (!writes_to_kept()) {
      gradients_ += written(l);
    }
    if (model_.has_tied_output() && l + 1 == model_.layer_count()) {
      tied_ = b() * geometry_.tensor_elements(0);
    }
    moment(held + (l > 0 ? output(l - 1) : 0));
    tied_ = l > 0 ? tied_ : 0;
    activations_ = held_in_backward(l) + (l > 0 ? output(l - 1) : output(l));
  }

  bool reduces_now() const {
    return reduction_.every_micro_step || micro_step_ + 1 == options_.micro_batches;
  }
  bool writes_to_kept() const {
    return !keeps_shards() && micro_step_ == 0 &&
           options_.accumulate_precision() == options_.precision;
  }

  std::uint64_t written(std::size_t l) const {
    return b() * geometry_.gradient_elements(l, writes_whole_units());
  }

  std::uint64_t contiguous() const {
    return (keeps_shards() ? b() : a()) * reduction_.buckets.elements *
           static_cast<std::uint64_t>(reduction_.contiguous_buffers);
  }

  // Backward of a layer is done: its gradient is handed on.
  void ready(std::size_t l) {
    if (!keeps_shards() && !writes_to_kept()) {
      gradients_ -= written(l);
    }
    if (!reduces_now() || reduction_.time == ReductionTime::after_backward) {
      return;
    }
    const std::size_t first = geometry_.first_tensor(l);
    for (std::size_t tensor = geometry_.end_tensor(l); tensor-- > first;) {
      for (std::size_t i = 0; i < buckets_.size(); ++i) {
        const bool holds = buckets_[i].first_tensor <= tensor && tensor <= buckets_[i].last_tensor;
        if (buckets_[i].closed_by == tensor && !holds) {
          reduce(buckets_[i]);
        }
      }
      for (const Bucket& bucket : buckets_) {
        const bool holds = bucket.first_tensor <= tensor && tensor <= bucket.last_tensor;
        if (holds && tensor == first && keeps_shards() && has_contiguous_memory(bucket)) {
          gradients_ -= written(l);  // Copied into the bucket.
        }
        if (holds && bucket.closed_by == tensor) {
          reduce(bucket);
        }
      }
    }
  }

  bool has_contiguous_memory(const Bucket& bucket) const {
    return reduction_.contiguous_buffers > 0 && !bucket.oversize;
  }

  std::uint64_t shard(const Bucket& bucket) const {
    std::uint64_t elements = 0;
    for (std::size_t u = geometry_.unit_of_tensor(bucket.first_tensor);
         u <= geometry_.unit_of_tensor(bucket.last_tensor); ++u) {
      elements += geometry_.units()[u].shard;
    }
    return elements;
  }

  // What a bucket's reduction needs until it is done. `passed_on` of it were written before.
  std::uint64_t reduction(const Bucket& bucket, std::uint64_t& passed_on) const {
    const std::uint64_t count = scatters() ? ranks_ * shard(bucket) : bucket.count;
    std::uint64_t bytes =
        shard_group_.staging_bytes(scatters() ? Operation::reduce_scatter : Operation::all_reduce,
                                   count, options_.reduce_precision);
    if (scatters() && replicas_ > 1 && strategy_.reduce_across_every_micro_step) {
      bytes += staging_across(shard(bucket));
    }
    const DType lying = keeps_shards() ? options_.precision : options_.accumulate_precision();
    const bool converts = lying != options_.reduce_precision;
    passed_on = 0;
    if (writes_whole_units() && !reduction_.reduces_copy) {
      passed_on = written(bucket.layers.first);
      return bytes + passed_on + (converts ? w() * count : 0);
    }
    const bool is_copied = reduction_.reduces_copy || converts || (scatters() && keeps_shards());
    return bytes + (is_copied ? w() * count : 0);
  }

  void reduce(const Bucket& bucket) {
    if (reduction_.max_in_flight > 0 &&
        in_flight_.size() >= static_cast<std::size_t>(reduction_.max_in_flight)) {
      gradients_ -= in_flight_.front();
      in_flight_.pop_front();
    }
    std::uint64_t passed_on = 0;
    const std::uint64_t bytes = reduction(bucket, passed_on);
    gradients_ += bytes - passed_on;
    // The copy is made before what was written goes, and before there is staging.
    if (keeps_shards() && !writes_whole_units() && !has_contiguous_memory(bucket)) {
      std::uint64_t gone = 0;
      for (std::size_t tensor = bucket.first_tensor; tensor <= bucket.last_tensor; ++tensor) {
        const std::size_t layer = geometry_.layer_of_tensor(tensor);
        gone += tensor == geometry_.first_tensor(layer) ? written(layer) : 0;
      }
      const std::uint64_t copy = w() * (scatters() ? ranks_ * shard(bucket) : bucket.count);
      gradients_ -= bytes - copy;
      moment(activations_);
      gradients_ += bytes - copy;
      gradients_ -= gone;
    }
    moment(activations_);
    in_flight_.push_back(bytes);
    if (!reduction_.overlap) {
      gradients_ -= in_flight_.back();
      in_flight_.pop_back();
    }
  }

  void end() {
    activations_ = output(0);  // The gradient that backward ended with.
    if (reduces_now()) {
      if (reduction_.time == ReductionTime::after_backward) {
        activations_ = 0;
        gradients_ += contiguous();
        moment(activations_);
        for (const Bucket& bucket : buckets_) {
          reduce(bucket);
        }
      } else if (buckets_.back().closed_by == Bucket::kEndOfBackward) {
        activations_ = 0;
        reduce(buckets_.back());
      }
    }
    in_flight_.clear();
    gradients_ = 0;
    gathered_ = 0;
    if (replicas_ > 1 && !strategy_.reduce_across_every_micro_step &&
        micro_step_ + 1 == options_.micro_batches) {
      const std::uint64_t kept = geometry_.owned_elements(0);
      const bool converts = options_.accumulate_precision() != options_.reduce_precision;
      moment(staging_across(kept) + (converts ? w() * kept : 0));
    }
  }

  void update() {
    const bool is_cut = strategy_.cuts_shards();
    if (options_.clip_norm > 0 || options_.dynamic_loss_scale.has_value()) {
      // One fp32 number.
      moment(4 + (is_cut ? shard_group_.staging_bytes(Operation::all_reduce, 1, DType::fp32) : 0));
    }
    if (!has_states_on_host(strategy_, options_.optimizer_on_host) &&
        strategy_.fp32_gradient_copy > 0 && options_.accumulate_precision() != DType::fp32) {
      moment(4 * std::min<std::uint64_t>(strategy_.fp32_gradient_copy, owned_));
    }
    std::vector<std::size_t> published;
    for (std::size_t u = 0; is_cut && u < geometry_.units().size(); ++u) {
      if (strategy_.parameters == Placement::replicated ||
          is_persistent(strategy_, geometry_.units()[u])) {
        published.push_back(u);
      }
    }
    moment(staging(published));
  }

  const Strategy& strategy_;
  const ReductionOptions& reduction_;
  const ModelSpec& model_;
  const TrainingOptions& options_;
  std::uint64_t ranks_;
  std::uint64_t replicas_;
  PlannedCollectives shard_group_;
  PlannedCollectives replica_group_;
  ShardGeometry geometry_;
  std::vector<Bucket> buckets_;
  ActivationCheckpoints checkpoints_;
  std::uint64_t rows_;
  std::uint64_t owned_;
  std::uint64_t constant_ = 0;
  std::uint64_t most_ = 0;  // Above the constant.

  // At a moment:
  std::size_t micro_step_ = 0;
  std::uint64_t gathered_ = 0;
  std::uint64_t gather_staging_ = 0;
  std::uint64_t gradients_ = 0;  // On their way.
  std::uint64_t tied_ = 0;
  std::uint64_t activations_ = 0;
  std::vector<std::vector<std::size_t>> prefetched_;
  std::deque<std::uint64_t> in_flight_;
};

}  // namespace

std::uint64_t predicted_peak_bytes(const TrainingRank& rank) { return Peak(rank).bytes(); }

}  // namespace shardscope
