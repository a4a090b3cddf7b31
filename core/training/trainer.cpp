#include "core/training/trainer.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/nn/cost.h"
#include "core/nn/linear.h"
#include "core/nn/loss.h"
#include "core/tensor/kernels.h"

namespace shardscope {
namespace {

TrainingGroups make_groups(const Strategy& strategy, const ProcessGroup& world) {
  const int size = shard_group_ranks(strategy, world.world_size());
  const int group = world.rank() / size;
  const int member = world.rank() % size;
  return {.shard = world.subgroup({.first = group * size, .stride = 1, .size = size}),
          .replicas =
              world.subgroup({.first = member, .stride = size, .size = world.world_size() / size})};
}

std::size_t ranks_of(const ProcessGroup& group) {
  return static_cast<std::size_t>(group.world_size());
}

}  // namespace

Trainer::Trainer(const Strategy& strategy, const ModelSpec& model, const TrainingOptions& options,
                 ProcessGroup& world, const BatchSource* batches)
    : strategy_(strategy),
      model_(model),
      options_(options),
      batches_(batches),
      groups_(make_groups(strategy, world)),
      geometry_(strategy, model, groups_.shard.world_size()),
      first_row_(static_cast<std::size_t>(world.rank()) * options.global_batch / ranks_of(world)),
      rows_(options.global_batch / ranks_of(world) / options.micro_batches),
      loss_scaler_(options, strategy.framework),
      outputs_(model.layer_count()) {
  SHARDSCOPE_CHECK(rows_ * ranks_of(world) * options.micro_batches == options.global_batch,
                   "ranks x micro-batches do not divide the batch");
}

void Trainer::initialize(const WeightSource& source) {
  const auto read_weights = [&](std::size_t begin, Tensor out) {
    read_parameters(source, model_, begin, out);
  };
  initialize(read_weights, [&](StateVector which, std::size_t begin, Tensor out) {
    if (which == StateVector::weights) {
      read_weights(begin, out);
    }
  });
}

void Trainer::initialize(const StateSource& source) {
  const TrainingProgress progress = source.progress();
  steps_ = progress.steps;
  updates_ = progress.updates;
  loss_scaler_.restore(progress.loss_scale);
  const auto read = [&](StateVector which, std::size_t begin, Tensor out) {
    fill_rounded(out,
                 [&](std::size_t at, Tensor values) { source.read(which, begin + at, values); });
  };
  initialize([&](std::size_t begin, Tensor out) { read(StateVector::weights, begin, out); }, read);
}

void Trainer::initialize(const ParameterStore::Reader& read_weights,
                         const ZeroOptimizer::Reader& read) {
  MemoryLedger& memory = device().memory();
  const Storage storage = groups_.shard.storage();
  parameters_.emplace(strategy_, geometry_, options_.precision,
                      layer_uses(model_.layer_count(), options_.activation_checkpointing),
                      groups_.shard, read_weights);
  gradients_.emplace(strategy_, geometry_, options_, groups_);
  optimizer_.emplace(strategy_, options_, geometry_, *parameters_, *gradients_, groups_, read);
  inputs_ =
      Buffer(memory, Category::inputs, options_.precision, rows_ * model_.input_width(), storage);
  targets_ = Buffer(memory, Category::inputs, target_dtype(model_.loss),
                    target_elements(model_.loss, rows_, model_.output_width()), storage);
}

StepDiagnostics Trainer::step() {
  device().begin_step(steps_ + 1);
  StepDiagnostics diagnostics;
  diagnostics.loss_scale = loss_scaler_.scale();
  for (std::size_t m = 0; m < options_.micro_batches; ++m) {
    diagnostics.local_loss += micro_step(m) / static_cast<double>(options_.micro_batches);
  }
  device().enter(Phase::optimizer);
  diagnostics.update =
      optimizer_->step(updates_ + 1, loss_scaler_.scale(), loss_scaler_.is_dynamic());
  if (loss_scaler_.is_dynamic()) {
    loss_scaler_.update(diagnostics.update.skipped);
  }
  parameters_->end_step();
  updates_ += diagnostics.update.skipped ? 0 : 1;
  ++steps_;
  return diagnostics;
}

double Trainer::micro_step(std::size_t index) {
  load_batch(index);
  parameters_->begin_micro_step();
  const double loss = forward();
  device().enter(Phase::backward, model_.layer_count() - 1);
  gradients_->begin_micro_step(index);
  backward();
  device().enter(Phase::backward);
  gradients_->end_micro_step();
  return loss;
}

TrainingProgress Trainer::progress() const {
  return {.steps = steps_, .updates = updates_, .loss_scale = loss_scaler_.state()};
}

std::vector<OwnedState> Trainer::owned_state() const {
  std::vector<OwnedState> state;
  if (groups_.replicas.rank() != 0 || (!strategy_.has_shards() && groups_.shard.rank() != 0)) {
    return state;
  }
  const std::vector<Tensor> weights = optimizer_->owned_weights();
  for (std::size_t u = 0; u < geometry_.units().size(); ++u) {
    const OwnedPart own = geometry_.owned(u, groups_.shard.rank());
    if (own.parameters > 0) {
      state.push_back({geometry_.units()[u].offset + own.begin, weights[u].slice(0, own.parameters),
                       optimizer_->first_moment().slice(own.offset, own.parameters),
                       optimizer_->second_moment().slice(own.offset, own.parameters)});
    }
  }
  return state;
}

Tensor Trainer::held(Category category) const {
  switch (category) {
    case Category::parameters:
      return parameters_->held();
    case Category::gradients:
      return gradients_->kept();
    case Category::master_weights:
      return optimizer_->master_weights();
    case Category::first_moment:
      return optimizer_->first_moment();
    case Category::second_moment:
      return optimizer_->second_moment();
    default:
      return {};
  }
}

void Trainer::load_batch(std::size_t micro_step) {
  if (groups_.shard.storage() == Storage::shape_only) {
    return;
  }
  const auto step = static_cast<std::size_t>(steps_);
  const std::size_t first_row = first_row_ + micro_step * rows_;
  if (options_.precision == DType::fp32) {
    batches_->read(step, first_row, rows_, inputs_.tensor(), targets_.tensor());
    return;
  }
  std::vector<float> rows(inputs_.size());
  const Tensor x = Tensor::of(rows.data(), rows.size());
  batches_->read(step, first_row, rows_, x, targets_.tensor());
  convert(inputs_.tensor(), x);
}

double Trainer::forward() {
  for (std::size_t l = 0; l < model_.layer_count(); ++l) {
    device().enter(Phase::forward, l);
    forward_layer(l, "linear");
    if (l > 0 && !is_kept(l - 1)) {
      outputs_[l - 1] = Buffer();
    }
  }
  device().compute(
      "loss", loss_forward_cost(model_.loss, rows_, model_.output_width(), options_.precision));
  return loss_forward(model_.loss, rows_, model_.output_width(), outputs_.back().tensor(),
                      targets_.tensor());
}

void Trainer::forward_layer(std::size_t l, std::string_view kernel) {
  const LinearShape shape = model_.layer(l);
  const bool last = l + 1 == model_.layer_count();
  const LinearTensors parameters = parameters_->acquire();
  outputs_[l] = activation(shape.out);
  device().compute(kernel,
                   linear_forward_cost(shape, rows_, /*activated=*/!last, options_.precision));
  linear_forward(shape, rows_, last ? std::nullopt : std::optional(model_.activation), input_of(l),
                 parameters, outputs_[l].tensor());
  parameters_->release();
}

void Trainer::backward() {
  Buffer dy = activation(model_.output_width());
  device().compute(
      "loss", loss_backward_cost(model_.loss, rows_, model_.output_width(), options_.precision));
  // The loss is the mean over micro-steps, too.
  loss_backward(model_.loss, rows_, model_.output_width(),
                loss_scaler_.scale() / static_cast<double>(options_.micro_batches),
                outputs_.back().tensor(), targets_.tensor(), dy.tensor());
  for (std::size_t l = model_.layer_count(); l-- > 0;) {
    outputs_[l] = Buffer();
    if (options_.activation_checkpointing > 0 && (l + 1 == model_.layer_count() || is_kept(l))) {
      recompute(l);
    }
    device().enter(Phase::backward, l);
    backward_layer(l, dy);
  }
}

// The forward of the layers up to `last` that were not kept since the segment's input.
void Trainer::recompute(std::size_t last) {
  for (std::size_t l = segment_begin(last); l <= last; ++l) {
    device().enter(Phase::backward, l);
    forward_layer(l, "recompute");
  }
  outputs_[last] = Buffer();  // Computed as frameworks do, and used by nothing.
}

void Trainer::backward_layer(std::size_t l, Buffer& dy) {
  const LinearShape shape = model_.layer(l);
  const Tensor x = input_of(l);
  const LinearTensors parameters = parameters_->acquire();
  const LinearTensors d_parameters = gradients_->begin(l);
  device().compute("parameters", linear_backward_parameters_cost(shape, rows_, options_.precision));
  linear_backward_parameters(shape, rows_, x, dy.tensor(), d_parameters);
  if (l > 0) {
    Buffer dx = activation(shape.in);
    device().compute("input", linear_backward_input_cost(shape, rows_, options_.precision));
    linear_backward_input(shape, rows_, dy.tensor(), parameters.weight, dx.tensor());
    activation_backward(model_.activation, x, dx.tensor());
    dy = std::move(dx);
  }
  parameters_->release();
  gradients_->ready(l);
}

// Whether a layer's output stays from forward to backward.
bool Trainer::is_kept(std::size_t layer) const {
  const std::size_t every = options_.activation_checkpointing;
  return every == 0 || layer + 1 == model_.layer_count() || (layer + 1) % every == 0;
}

std::size_t Trainer::segment_begin(std::size_t layer) const {
  return layer / options_.activation_checkpointing * options_.activation_checkpointing;
}

Tensor Trainer::input_of(std::size_t layer) const {
  return layer == 0 ? inputs_.tensor() : outputs_[layer - 1].tensor();
}

Buffer Trainer::activation(std::size_t width) {
  return {device().memory(), Category::activations,   options_.precision,
          rows_ * width,     groups_.shard.storage(), Contents::undefined};
}

}  // namespace shardscope
