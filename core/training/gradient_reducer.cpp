#include "core/training/gradient_reducer.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/nn/cost.h"
#include "core/tensor/kernels.h"

namespace shardscope {

GradientReducer::GradientReducer(const Strategy& strategy, const ShardGeometry& geometry,
                                 const TrainingOptions& options, TrainingGroups& groups)
    : strategy_(strategy),
      reduction_(strategy.reduction),
      geometry_(geometry),
      options_(options),
      groups_(groups),
      device_(groups.shard.device()),
      buckets_(make_buckets(reduction_.buckets, geometry, size_of(options.accumulate_precision()))),
      bucket_of_(geometry.tensor_count()),
      kept_(
          is_on_host() ? device_.host_memory() : device_.memory(), Category::gradients,
          options.accumulate_precision(),
          keeps_shards() ? geometry.owned_elements(groups.shard.rank()) : geometry.full_elements(),
          groups.shard.storage()),
      written_(geometry.layer_count()) {
  SHARDSCOPE_CHECK(keeps_shards() || !reduction_.every_micro_step || !strategy_.cuts_shards(),
                   "whole gradients of which a part is averaged cannot be reduced again");
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    std::fill(bucket_of_.begin() + static_cast<std::ptrdiff_t>(buckets_[b].first_tensor),
              bucket_of_.begin() + static_cast<std::ptrdiff_t>(buckets_[b].last_tensor) + 1, b);
  }
  if (reduction_.persistent_buckets) {
    persistent_ =
        Buffer(device_.memory(), Category::communication_buckets, options.accumulate_precision(),
               geometry.full_elements(), groups.shard.storage());
  }
}

void GradientReducer::begin_micro_step(std::size_t index) {
  micro_step_ = index;
  if (reduces_now() && reduction_.time == ReductionTime::during_backward) {
    allocate_contiguous();
  }
}

// The first gradients of a step go where they are kept, if they are of that type.
bool GradientReducer::writes_to_kept() const {
  return !keeps_shards() && micro_step_ == 0 &&
         options_.precision == options_.accumulate_precision();
}

// Gradients go into the memory that is scattered, padding included.
bool GradientReducer::writes_whole_units() const {
  return keeps_shards() && scatters() && strategy_.partition == Partition::layer;
}

bool GradientReducer::has_contiguous_memory(const Bucket& bucket) const {
  return reduction_.contiguous_buffers > 0 && !bucket.oversize;
}

Tensor GradientReducer::kept_tensor(std::size_t tensor) const {
  const ShardUnit& unit = geometry_.units()[geometry_.unit_of_tensor(tensor)];
  return kept_.slice(unit.full_offset + geometry_.offset_in_unit(tensor),
                     geometry_.tensor_elements(tensor));
}

std::vector<Tensor> GradientReducer::begin(std::size_t layer) {
  std::vector<Tensor> tensors;
  const std::size_t first = geometry_.first_tensor(layer);
  if (writes_to_kept()) {
    for (std::size_t tensor = first; tensor < geometry_.end_tensor(layer); ++tensor) {
      tensors.push_back(kept_tensor(tensor));
    }
    return tensors;
  }
  const std::size_t elements = geometry_.layer_elements(layer);
  written_[layer] = Buffer(device_.memory(), Category::communication_buckets, options_.precision,
                           geometry_.gradient_elements(layer, writes_whole_units()),
                           groups_.shard.storage(), Contents::undefined);
  set_zero(written_[layer].slice(elements, written_[layer].size() - elements));  // Padding.
  for (std::size_t tensor = first; tensor < geometry_.end_tensor(layer); ++tensor) {
    tensors.push_back(written(tensor));
  }
  return tensors;
}

Tensor GradientReducer::written(std::size_t tensor) const {
  const std::size_t layer = geometry_.layer_of_tensor(tensor);
  return written_[layer].slice(
      geometry_.tensor_offset(tensor) - geometry_.tensor_offset(geometry_.first_tensor(layer)),
      geometry_.tensor_elements(tensor));
}

void GradientReducer::ready(std::size_t layer) {
  if (!keeps_shards() && !writes_to_kept()) {
    accumulate(layer);
  }
  if (reduces_now() && reduction_.time == ReductionTime::during_backward) {
    for (std::size_t tensor = geometry_.end_tensor(layer);
         tensor-- > geometry_.first_tensor(layer);) {
      hand_on(tensor);
    }
  }
}

// Adds what was written to what is kept.
void GradientReducer::accumulate(std::size_t layer) {
  const std::size_t elements = geometry_.layer_elements(layer);
  if (micro_step_ == 0) {
    device_.compute("convert",
                    convert_cost(elements, options_.precision, options_.accumulate_precision()));
  } else {
    device_.compute("accumulate",
                    accumulate_cost(elements, options_.precision, options_.accumulate_precision()));
  }
  for (std::size_t tensor = geometry_.first_tensor(layer); tensor < geometry_.end_tensor(layer);
       ++tensor) {
    if (micro_step_ == 0) {
      convert(kept_tensor(tensor), written(tensor));
    } else {
      add(kept_tensor(tensor), written(tensor));
    }
  }
  written_[layer] = Buffer();
}

void GradientReducer::end_micro_step() {
  if (!reduces_now()) {
    return;
  }
  if (reduction_.time == ReductionTime::after_backward) {
    allocate_contiguous();
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      for (std::size_t tensor = buckets_[b].last_tensor + 1; tensor-- > buckets_[b].first_tensor;) {
        fill(b, tensor);
      }
      launch(b);
    }
  } else if (buckets_.back().closed_by == Bucket::kEndOfBackward) {
    launch(buckets_.size() - 1);
  }
  while (!pending_.empty()) {
    complete_oldest();
  }
  contiguous_.clear();
  contiguous_rest_.clear();
  if (groups_.replicas.world_size() > 1 && is_last_micro_step() && !reduces_across_now()) {
    reduce_kept_across();
  }
}

void GradientReducer::allocate_contiguous() {
  std::size_t used = 0;
  for (const Bucket& bucket : buckets_) {
    used = std::max(used, has_contiguous_memory(bucket) ? bucket.count : 0);
  }
  const DType dtype = keeps_shards() ? options_.precision : options_.accumulate_precision();
  for (int i = 0; i < reduction_.contiguous_buffers; ++i) {
    contiguous_.emplace_back(device_.memory(), Category::communication_buckets, dtype, used,
                             groups_.shard.storage(), Contents::undefined);
    contiguous_rest_.emplace_back(device_.memory(), Category::communication_buckets, dtype,
                                  reduction_.buckets.elements - used, Storage::shape_only);
  }
}

void GradientReducer::hand_on(std::size_t tensor) {
  const std::size_t bucket = bucket_of_[tensor];
  if (bucket > 0 && buckets_[bucket - 1].closed_by == tensor) {
    launch(bucket - 1);
  }
  fill(bucket, tensor);
  if (buckets_[bucket].closed_by == tensor) {
    launch(bucket);
  }
}

// Copies a gradient into the memory that its bucket has beside it.
void GradientReducer::fill(std::size_t index, std::size_t tensor) {
  const Bucket& bucket = buckets_[index];
  if (!reduction_.persistent_buckets && !has_contiguous_memory(bucket)) {
    return;
  }
  const Tensor source = keeps_shards() ? written(tensor) : kept_tensor(tensor);
  const Tensor destination = gradient(index, tensor);
  device_.compute("copy", convert_cost(source.count, source.dtype, destination.dtype));
  convert(destination, source);
  consumed(tensor);
}

// Of a layer, the first tensor is handed on last.
void GradientReducer::consumed(std::size_t tensor) {
  const std::size_t layer = geometry_.layer_of_tensor(tensor);
  if (keeps_shards() && tensor == geometry_.first_tensor(layer)) {
    written_[layer] = Buffer();
  }
}

// A tensor's gradient, when its bucket is reduced.
Tensor GradientReducer::gradient(std::size_t index, std::size_t tensor) const {
  const Bucket& bucket = buckets_[index];
  const std::size_t elements = geometry_.tensor_elements(tensor);
  if (reduction_.persistent_buckets) {
    return persistent_.slice(geometry_.tensor_offset(tensor), elements);
  }
  if (has_contiguous_memory(bucket)) {
    return contiguous_[index % contiguous_.size()].slice(
        geometry_.tensor_offset(tensor) - bucket.offset, elements);
  }
  if (keeps_shards()) {
    return written(tensor);
  }
  return kept_tensor(tensor);
}

bool GradientReducer::reduces_across_now() const {
  return groups_.replicas.world_size() > 1 && strategy_.reduce_across_every_micro_step;
}

void GradientReducer::launch(std::size_t index) {
  const Bucket& bucket = buckets_[index];
  if (reduction_.max_in_flight > 0 &&
      pending_.size() >= static_cast<std::size_t>(reduction_.max_in_flight)) {
    complete_oldest();
  }
  Pending& pending = pending_.emplace_back();
  pending.bucket = &bucket;
  pending.sums = input(index, pending);
  if (scatters()) {
    const std::size_t shard = units_shard(bucket);
    pending.work = groups_.shard.reduce_scatter(
        ChunkedTensor({{pending.sums, shard}}, groups_.shard.world_size()), bucket.layers);
    if (reduces_across_now()) {
      pending.across = groups_.replicas.all_reduce(
          ChunkedTensor::even(own_chunk(pending), groups_.replicas.world_size()), bucket.layers);
    }
  } else {
    pending.work = groups_.shard.all_reduce(
        ChunkedTensor::even(pending.sums, groups_.shard.world_size()), bucket.layers);
  }
  if (!reduction_.overlap) {
    complete_oldest();
  }
}

// What the collective works on: the gradients where they lie, or a copy in the type that is sent.
Tensor GradientReducer::input(std::size_t index, Pending& pending) {
  const Bucket& bucket = buckets_[index];
  const bool is_one_unit = !scatters() || geometry_.unit_of_tensor(bucket.first_tensor) ==
                                              geometry_.unit_of_tensor(bucket.last_tensor);
  const DType dtype = gradient(index, bucket.last_tensor).dtype;
  const DType wire_dtype = options_.reduce_precision;
  const bool is_padded = !scatters() || writes_whole_units() || !keeps_shards();
  if (is_one_unit && is_padded && !reduction_.reduces_copy) {
    const Tensor lying = view(index, pending);
    if (dtype == wire_dtype) {
      return lying;
    }
    Buffer wire(device_.memory(), Category::communication_buckets, wire_dtype, lying.count,
                groups_.shard.storage(), Contents::undefined);
    device_.compute("convert", convert_cost(lying.count, dtype, wire_dtype));
    convert(wire.tensor(), lying);
    pending.converted = std::move(wire);
    return pending.converted.tensor();
  }
  const std::size_t count =
      scatters() ? units_shard(bucket) * static_cast<std::size_t>(groups_.shard.world_size())
                 : bucket.count;
  pending.memory = Buffer(device_.memory(), Category::communication_buckets, wire_dtype, count,
                          groups_.shard.storage(), Contents::undefined);
  device_.compute(dtype == wire_dtype ? "copy" : "convert", convert_cost(count, dtype, wire_dtype));
  if (scatters()) {
    copy_by_rank(index, pending.memory.tensor());
  } else {
    copy_in_torch_order(index, pending.memory.tensor());
  }
  if (!has_contiguous_memory(bucket)) {
    for (std::size_t tensor = bucket.first_tensor; tensor <= bucket.last_tensor; ++tensor) {
      consumed(tensor);
    }
  }
  return pending.memory.tensor();
}

// The bucket's gradients in one piece; a scattered unit's with its padding.
Tensor GradientReducer::view(std::size_t index, Pending& pending) {
  const Bucket& bucket = buckets_[index];
  if (writes_whole_units()) {
    pending.memory = std::move(written_[bucket.layers.first]);
    return pending.memory.tensor();
  }
  if (reduction_.persistent_buckets) {
    return persistent_.slice(bucket.offset, bucket.count);
  }
  if (has_contiguous_memory(bucket)) {
    return contiguous_[index % contiguous_.size()].slice(0, bucket.count);
  }
  SHARDSCOPE_CHECK(!keeps_shards(), "gradients of several layers are not in one piece");
  const ShardUnit& unit = geometry_.units()[geometry_.unit_of_tensor(bucket.first_tensor)];
  const std::size_t offset = unit.full_offset + (bucket.offset - unit.offset);
  return kept_.slice(offset, scatters() ? unit.full_count : bucket.count);
}

void GradientReducer::copy_in_torch_order(std::size_t index, Tensor wire) const {
  const Bucket& bucket = buckets_[index];
  for (std::size_t tensor = bucket.first_tensor; tensor <= bucket.last_tensor; ++tensor) {
    convert(wire.slice(geometry_.tensor_offset(tensor) - bucket.offset,
                       geometry_.tensor_elements(tensor)),
            gradient(index, tensor));
  }
}

// For each rank its shards of all units, padding included: units are tensors.
void GradientReducer::copy_by_rank(std::size_t index, Tensor wire) const {
  if (!wire.is_real()) {
    return;
  }
  const Bucket& bucket = buckets_[index];
  std::size_t offset = 0;
  for (int rank = 0; rank < groups_.shard.world_size(); ++rank) {
    for (std::size_t tensor = bucket.first_tensor; tensor <= bucket.last_tensor; ++tensor) {
      const OwnedPart part = geometry_.owned(geometry_.unit_of_tensor(tensor), rank);
      const Tensor shard = wire.slice(offset, part.count);
      if (part.parameters > 0) {
        convert(shard.slice(0, part.parameters),
                gradient(index, tensor).slice(part.begin, part.parameters));
      }
      set_zero(shard.slice(part.parameters, part.count - part.parameters));
      offset += part.count;
    }
  }
}

// Elements of a rank's shards of the bucket's units.
std::size_t GradientReducer::units_shard(const Bucket& bucket) const {
  std::size_t shard = 0;
  for (std::size_t u = geometry_.unit_of_tensor(bucket.first_tensor);
       u <= geometry_.unit_of_tensor(bucket.last_tensor); ++u) {
    shard += geometry_.units()[u].shard;
  }
  return shard;
}

Tensor GradientReducer::own_chunk(const Pending& pending) const {
  const std::size_t shard = units_shard(*pending.bucket);
  return pending.sums.slice(static_cast<std::size_t>(groups_.shard.rank()) * shard, shard);
}

void GradientReducer::complete_oldest() {
  const Pending pending = std::move(pending_.front());
  pending_.pop_front();
  pending.work->wait();
  if (pending.across != nullptr) {
    pending.across->wait();
  }
  const int ranks =
      groups_.shard.world_size() * (reduces_across_now() ? groups_.replicas.world_size() : 1);
  const bool adds = keeps_shards() && micro_step_ > 0;
  const std::vector<Result> parts = results(pending);
  std::size_t elements = 0;
  for (const Result& part : parts) {
    elements += part.sums.count;
    divide(part.sums, static_cast<float>(ranks));
    if (adds) {
      add(part.kept, part.sums);
    } else if (part.kept.data != part.sums.data) {
      convert(part.kept, part.sums);
    }
  }
  if (elements > 0) {
    const DType kept_dtype = options_.accumulate_precision();
    device_.compute("average", average_cost(elements, options_.reduce_precision, kept_dtype));
    if (adds) {
      device_.compute("accumulate",
                      accumulate_cost(elements, options_.reduce_precision, kept_dtype));
    }
    if (is_on_host()) {
      device_.on_host("gradients to host",
                      {.link_bytes = elements * size_of(kept_dtype), .updated_parameters = 0});
    }
  }
}

std::vector<GradientReducer::Result> GradientReducer::results(const Pending& pending) const {
  if (scatters()) {
    return scattered_results(pending);
  }
  if (strategy_.cuts_shards()) {
    return reduced_results(pending);
  }
  return {{kept_.slice(pending.bucket->offset, pending.bucket->count), pending.sums}};
}

// Of an all_reduce, what the rank owns.
std::vector<GradientReducer::Result> GradientReducer::reduced_results(
    const Pending& pending) const {
  const Bucket& bucket = *pending.bucket;
  std::vector<Result> parts;
  for (std::size_t u = geometry_.unit_of_tensor(bucket.first_tensor);
       u <= geometry_.unit_of_tensor(bucket.last_tensor); ++u) {
    const ShardUnit& unit = geometry_.units()[u];
    const OwnedPart own = geometry_.owned(u, groups_.shard.rank());
    const std::size_t own_begin = unit.offset + own.begin;
    const std::size_t begin = std::max(bucket.offset, own_begin);
    const std::size_t end = std::min(bucket.offset + bucket.count, own_begin + own.parameters);
    if (begin < end) {
      const std::size_t kept = keeps_shards() ? own.offset + (begin - own_begin)
                                              : unit.full_offset + (begin - unit.offset);
      parts.push_back(
          {kept_.slice(kept, end - begin), pending.sums.slice(begin - bucket.offset, end - begin)});
    }
  }
  return parts;
}

std::vector<GradientReducer::Result> GradientReducer::scattered_results(
    const Pending& pending) const {
  const Bucket& bucket = *pending.bucket;
  const Tensor chunk = own_chunk(pending);
  std::vector<Result> parts;
  std::size_t offset = 0;
  for (std::size_t u = geometry_.unit_of_tensor(bucket.first_tensor);
       u <= geometry_.unit_of_tensor(bucket.last_tensor); ++u) {
    const OwnedPart own = geometry_.owned(u, groups_.shard.rank());
    const std::size_t kept =
        keeps_shards() ? own.offset : geometry_.units()[u].full_offset + own.begin;
    parts.push_back({kept_.slice(kept, own.count), chunk.slice(offset, own.count)});
    offset += own.count;
  }
  return parts;
}

// The averages inside the shard groups become those over all ranks.
void GradientReducer::reduce_kept_across() {
  const LayerRange layers{0, geometry_.units().back().layers.last};
  const Tensor kept = kept_.tensor();
  const DType wire_dtype = options_.reduce_precision;
  Buffer wire;
  if (kept.dtype != wire_dtype) {
    wire = Buffer(device_.memory(), Category::communication_buckets, wire_dtype, kept.count,
                  groups_.shard.storage(), Contents::undefined);
    device_.compute("convert", convert_cost(kept.count, kept.dtype, wire_dtype));
    convert(wire.tensor(), kept);
  }
  const Tensor sums = kept.dtype == wire_dtype ? kept : wire.tensor();
  groups_.replicas.all_reduce(ChunkedTensor::even(sums, groups_.replicas.world_size()), layers)
      ->wait();
  device_.compute("average", average_cost(kept.count, wire_dtype, kept.dtype));
  divide(sums, static_cast<float>(groups_.replicas.world_size()));
  if (kept.dtype != wire_dtype) {
    convert(kept, sums);
  }
}

std::vector<Tensor> GradientReducer::owned() const {
  std::vector<Tensor> tensors;
  for (std::size_t u = 0; u < geometry_.units().size(); ++u) {
    const OwnedPart own = geometry_.owned(u, groups_.shard.rank());
    const std::size_t begin =
        keeps_shards() ? own.offset : geometry_.units()[u].full_offset + own.begin;
    tensors.push_back(kept_.slice(begin, own.count));
  }
  return tensors;
}

}  // namespace shardscope
