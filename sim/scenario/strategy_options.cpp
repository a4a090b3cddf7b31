#include "sim/scenario/strategy_options.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>

#include "sim/scenario/checks.h"

namespace shardscope {
namespace {

using Names = std::vector<std::string_view>;

constexpr WholeRange kElements{1, 10'000'000'000'000};
constexpr WholeRange kElementsOrNone{0, 10'000'000'000'000};
constexpr WholeRange kCounts{1, 1'000'000};
constexpr WholeRange kCountsOrNone{0, 1'000'000};

const Names kDdp = {"TORCH_DDP", "ZERO_REDUNDANCY_OPTIMIZER"};
const Names kDdpAndNoShard = {"TORCH_DDP", "ZERO_REDUNDANCY_OPTIMIZER", "FSDP_NO_SHARD"};
const Names kDeepSpeed = {"DEEPSPEED_STAGE0", "DEEPSPEED_STAGE1", "DEEPSPEED_STAGE2",
                          "DEEPSPEED_STAGE3"};
const Names kDeepSpeedZero = {"DEEPSPEED_STAGE1", "DEEPSPEED_STAGE2", "DEEPSPEED_STAGE3"};
const Names kStage3 = {"DEEPSPEED_STAGE3"};
const Names kShardedFsdp = {"FSDP_FULL_SHARD", "FSDP_SHARD_GRAD_OP", "FSDP_HYBRID_SHARD"};
const Names kHybrid = {"FSDP_HYBRID_SHARD"};
const Names kOverlapping = {
    "TORCH_DDP",        "ZERO_REDUNDANCY_OPTIMIZER", "DEEPSPEED_STAGE1",   "DEEPSPEED_STAGE2",
    "DEEPSPEED_STAGE3", "FSDP_FULL_SHARD",           "FSDP_SHARD_GRAD_OP", "FSDP_NO_SHARD",
    "FSDP_HYBRID_SHARD"};

const Names kLimitedInFlight = {
    "TORCH_DDP",       "ZERO_REDUNDANCY_OPTIMIZER", "DEEPSPEED_STAGE2", "DEEPSPEED_STAGE3",
    "FSDP_FULL_SHARD", "FSDP_SHARD_GRAD_OP",        "FSDP_NO_SHARD",    "FSDP_HYBRID_SHARD"};

std::string listed(const Names& names) {
  std::string text;
  for (const std::string_view name : names) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

class Options {
 public:
  Options(MessageText& text, int world_size, std::vector<Strategy>& strategies)
      : text_(text), world_size_(world_size), strategies_(strategies) {}

  void apply() {
    apply_reduction();
    apply_gathering();
    apply_groups();
  }

 private:
  using Change = std::function<void(Strategy&)>;

  void apply_reduction() {
    const auto overlap = boolean("options.overlap");
    change("options.overlap", kOverlapping, overlap.has_value(),
           [&](Strategy& s) { set_overlap(s, *overlap); });
    const auto size = bytes("options.bucket_size");
    change("options.bucket_size", kDdp, size.has_value(), [&](Strategy& s) {
      s.reduction.buckets.bytes = *size;
      s.reduction.buckets.first_bytes = std::min(s.reduction.buckets.first_bytes, *size);
    });
    const auto first_size = bytes("options.first_bucket_size");
    change("options.first_bucket_size", kDdp, first_size.has_value(),
           [&](Strategy& s) { s.reduction.buckets.first_bytes = *first_size; });
    const auto elements = whole("options.bucket_elements", kElements);
    change("options.bucket_elements", kDeepSpeed, elements.has_value(), [&](Strategy& s) {
      s.reduction.buckets.elements = static_cast<std::uint64_t>(*elements);
    });
    const auto view = boolean("options.gradient_as_bucket_view");
    change("options.gradient_as_bucket_view", kDdp, view.has_value(),
           [&](Strategy& s) { s.reduction.persistent_buckets = !*view; });
    const auto contiguous = boolean("options.contiguous_gradients");
    change("options.contiguous_gradients", kDeepSpeedZero, contiguous.has_value(),
           [&](Strategy& s) { s.reduction.contiguous_buffers *= *contiguous ? 1 : 0; });
    const auto in_flight = whole("options.buckets_in_flight", kCountsOrNone);
    change("options.buckets_in_flight", kLimitedInFlight, in_flight.has_value(),
           [&](Strategy& s) { s.reduction.max_in_flight = static_cast<int>(*in_flight); });
    const auto scatter = boolean("options.reduce_scatter");
    change("options.reduce_scatter", kStage3, scatter.has_value(), [&](Strategy& s) {
      s.reduction.collective = *scatter ? Reduction::reduce_scatter : Reduction::all_reduce;
    });
    const auto every = every_micro_step("options.reduce");
    change("options.reduce", kDdpAndNoShard, every.has_value(),
           [&](Strategy& s) { s.reduction.every_micro_step = *every; });
  }

  // What stays whole on every rank can be reduced after backward; DeepSpeed then needs a second
  // buffer to fill while the first is reduced.
  static void set_overlap(Strategy& strategy, bool overlap) {
    ReductionOptions& reduction = strategy.reduction;
    reduction.overlap = overlap;
    if (strategy.gradients == Placement::replicated) {
      reduction.time = overlap ? ReductionTime::during_backward : ReductionTime::after_backward;
    }
    if (strategy.framework == Framework::deepspeed && overlap) {
      reduction.max_in_flight = 1;
      reduction.contiguous_buffers = strategy.parameters == Placement::replicated ? 2 : 1;
    }
  }

  void apply_gathering() {
    const auto reshard = boolean("options.reshard_after_forward");
    change("options.reshard_after_forward", kShardedFsdp, reshard.has_value(),
           [&](Strategy& s) { s.gather.reshard_after_forward = *reshard; });
    const auto layers = whole("options.prefetch_layers", kCountsOrNone);
    change("options.prefetch_layers", kShardedFsdp, layers.has_value(),
           [&](Strategy& s) { s.gather.prefetch_layers = static_cast<std::size_t>(*layers); });
    const auto in_flight = whole("options.gathers_in_flight", kCounts);
    change("options.gathers_in_flight", kShardedFsdp, in_flight.has_value(),
           [&](Strategy& s) { s.gather.max_in_flight = static_cast<int>(*in_flight); });
    const auto stage3 = [&](const char* path, WholeRange range,
                            std::uint64_t GatherOptions::*field) {
      const auto value = whole(path, range);
      change(path, kStage3, value.has_value(),
             [&](Strategy& s) { s.gather.*field = static_cast<std::uint64_t>(*value); });
    };
    stage3("options.prefetch_elements", kElementsOrNone, &GatherOptions::prefetch_elements);
    stage3("options.persistence_threshold", kElementsOrNone, &GatherOptions::persistence_threshold);
    stage3("options.max_reuse_distance", kElementsOrNone, &GatherOptions::max_reuse_distance);
    stage3("options.max_live_parameters", kElementsOrNone, &GatherOptions::max_live_parameters);
    const auto sub_group = whole("options.sub_group_size", kElements);
    change("options.sub_group_size", kStage3, sub_group.has_value(),
           [&](Strategy& s) { s.fp32_gradient_copy = static_cast<std::uint64_t>(*sub_group); });
  }

  void apply_groups() {
    const char* path = "options.shard_group_size";
    auto size = whole(path, {1, std::numeric_limits<int>::max()});
    if (size.has_value() && !text_.is_refused("cluster.world_size") && world_size_ % *size != 0) {
      text_.refuse_combination(
          path, "is not allowed",
          "a divisor of cluster.world_size (" + std::to_string(world_size_) + ")");
      size.reset();
    }
    change(path, kHybrid, size.has_value(),
           [&](Strategy& s) { s.shard_group_size = static_cast<int>(*size); });
    const auto across = every_micro_step("options.reduce_across");
    change("options.reduce_across", kHybrid, across.has_value(),
           [&](Strategy& s) { s.reduce_across_every_micro_step = *across; });
  }

  // Of an option that is given and good; refuses one that no strategy has. If arguments chose other
  // strategies than the file, options of the file may be those of the file's.
  void change(const char* path, const Names& names, bool is_given, const Change& apply) {
    if (!is_given) return;
    bool is_used = false;
    for (Strategy& strategy : strategies_) {
      if (std::find(names.begin(), names.end(), strategy.name) != names.end()) {
        apply(strategy);
        is_used = true;
      }
    }
    const bool is_of_others = text_.is_overridden("strategies") && !text_.is_overridden(path);
    if (!is_used && !is_of_others && !text_.is_refused("strategies")) {
      text_.refuse_combination(path, "concerns none of the strategies", "with " + listed(names));
    }
  }

  std::optional<std::int64_t> whole(const char* path, WholeRange range) {
    return text_.has(path) ? check_whole(text_, path, range) : std::nullopt;
  }
  std::optional<std::uint64_t> bytes(const char* path) {
    return text_.has(path) ? check_bytes(text_, path) : std::nullopt;
  }
  std::optional<bool> boolean(const char* path) const {
    return text_.has(path) ? std::optional(text_.boolean(path)) : std::nullopt;
  }
  std::optional<bool> every_micro_step(const char* path) const {
    return text_.has(path) ? std::optional(text_.enumerator(path) == "EVERY_MICRO_STEP")
                           : std::nullopt;
  }

  MessageText& text_;
  int world_size_;
  std::vector<Strategy>& strategies_;
};

class OptionTexts {
 public:
  OptionTexts(const Strategy& strategy, int world_size)
      : strategy_(strategy), world_size_(world_size) {}

  std::vector<std::pair<std::string, std::string>> list() {
    const ReductionOptions& reduction = strategy_.reduction;
    const GatherOptions& gather = strategy_.gather;
    add("overlap", kOverlapping, boolean(reduction.overlap));
    add("bucket_size", kDdp, bytes(reduction.buckets.bytes));
    add("first_bucket_size", kDdp, bytes(reduction.buckets.first_bytes));
    add("bucket_elements", kDeepSpeed, std::to_string(reduction.buckets.elements));
    add("gradient_as_bucket_view", kDdp, boolean(!reduction.persistent_buckets));
    add("contiguous_gradients", kDeepSpeedZero, boolean(reduction.contiguous_buffers > 0));
    if (reduction.overlap) {
      add("buckets_in_flight", kLimitedInFlight, std::to_string(reduction.max_in_flight));
    }
    add("reduce_scatter", kStage3, boolean(reduction.collective == Reduction::reduce_scatter));
    add("reduce", kDdpAndNoShard, when(reduction.every_micro_step));
    add("reshard_after_forward", kShardedFsdp, boolean(gather.reshard_after_forward));
    add("prefetch_layers", kShardedFsdp, std::to_string(gather.prefetch_layers));
    add("gathers_in_flight", kShardedFsdp, std::to_string(gather.max_in_flight));
    add("prefetch_elements", kStage3, std::to_string(gather.prefetch_elements));
    add("persistence_threshold", kStage3, std::to_string(gather.persistence_threshold));
    add("max_reuse_distance", kStage3, std::to_string(gather.max_reuse_distance));
    add("max_live_parameters", kStage3, std::to_string(gather.max_live_parameters));
    add("sub_group_size", kStage3, std::to_string(strategy_.fp32_gradient_copy));
    add("shard_group_size", kHybrid, std::to_string(shard_group_ranks(strategy_, world_size_)));
    add("reduce_across", kHybrid, when(strategy_.reduce_across_every_micro_step));
    return std::move(texts_);
  }

 private:
  static std::string boolean(bool value) { return value ? "true" : "false"; }
  static std::string when(bool every_micro_step) {
    return every_micro_step ? "EVERY_MICRO_STEP" : "BOUNDARY";
  }
  static std::string bytes(std::uint64_t value) {
    for (const auto& [unit, size] : {std::pair("MiB", 20), std::pair("KiB", 10)}) {
      if (value % (std::uint64_t{1} << size) == 0) return std::to_string(value >> size) + unit;
    }
    return std::to_string(value) + "B";
  }

  void add(const char* name, const Names& names, std::string value) {
    if (std::find(names.begin(), names.end(), strategy_.name) != names.end()) {
      texts_.emplace_back(name, std::move(value));
    }
  }

  const Strategy& strategy_;
  int world_size_;
  std::vector<std::pair<std::string, std::string>> texts_;
};

}  // namespace

std::vector<std::pair<std::string, std::string>> options_of(const Strategy& strategy,
                                                            int world_size) {
  return OptionTexts(strategy, world_size).list();
}

void apply_options(MessageText& text, int world_size, std::vector<Strategy>& strategies) {
  Options(text, world_size, strategies).apply();
}

}  // namespace shardscope
