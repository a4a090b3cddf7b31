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
      checkpoints_(model, options.activation_checkpointing),
      loss_scaler_(options, strategy.framework),
      outputs_(model.layer_count()),
      saved_(model.layer_count()) {
  SHARDSCOPE_CHECK(!model.transformer.has_value() || world.storage() == Storage::shape_only,
                   "transformers have shapes only");
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
  parameters_.emplace(strategy_, geometry_, options_.precision, checkpoints_.uses(), groups_.shard,
                      read_weights);
  gradients_.emplace(strategy_, geometry_, options_, groups_);
  optimizer_.emplace(strategy_, options_, geometry_, *parameters_, *gradients_, groups_, read);
  inputs_ = memory(Category::inputs, model_.input_dtype(options_.precision),
                   model_.input_elements(rows_));
  targets_ = memory(Category::inputs, target_dtype(model_.loss),
                    target_elements(model_.loss, model_.loss_rows(rows_), model_.output_width()));
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
    forward_layer(l);
    if (l > 0 && !checkpoints_.keeps_output(l - 1)) {
      outputs_[l - 1] = Buffer();
    }
  }
  const std::size_t rows = model_.loss_rows(rows_);
  device().compute("loss", loss_forward_cost(model_.loss, rows, model_.output_width(),
                                             model_.loss_dtype(options_.precision)));
  return loss_forward(model_.loss, rows, model_.output_width(), outputs_.back().tensor(),
                      targets_.tensor());
}

void Trainer::forward_layer(std::size_t l) {
  const bool again = device().position().phase == Phase::backward;
  const std::vector<Tensor> parameters = parameters_->acquire();
  outputs_[l] = activation(l);
  if (again || !checkpoints_.is_recomputed(l)) {
    saved_[l] = memory(Category::activations, DType::uint8,
                       rows_ * model_.saved_bytes(l, options_.precision));
  }
  for (const KernelCost& kernel : forward_kernels(model_, l, rows_, options_.precision)) {
    device().compute(again ? "recompute" : kernel.kernel, kernel.cost);
  }
  if (outputs_[l].tensor().is_real()) {
    const bool last = l + 1 == model_.layer_count();
    linear_forward(model_.layer(l), rows_, last ? std::nullopt : std::optional(model_.activation),
                   input_of(l), {parameters[0], parameters[1]}, outputs_[l].tensor());
  }
  parameters_->release();
}

void Trainer::backward() {
  const std::size_t last = model_.layer_count() - 1;
  const std::size_t rows = model_.loss_rows(rows_);
  Buffer dy = activation(last);
  device().compute("loss", loss_backward_cost(model_.loss, rows, model_.output_width(),
                                              model_.loss_dtype(options_.precision)));
  // The loss is the mean over micro-steps, too.
  loss_backward(model_.loss, rows, model_.output_width(),
                loss_scaler_.scale() / static_cast<double>(options_.micro_batches),
                outputs_.back().tensor(), targets_.tensor(), dy.tensor());
  for (std::size_t l = last + 1; l-- > 0;) {
    outputs_[l] = Buffer();
    if (checkpoints_.is_recomputed(l) && checkpoints_.segment_end(l) == l + 1) {
      recompute(l);
    }
    device().enter(Phase::backward, l);
    backward_layer(l, dy);
  }
}

// The forward of the layers up to `last` that were not kept since the segment's input.
void Trainer::recompute(std::size_t last) {
  for (std::size_t l = checkpoints_.segment_begin(last); l <= last; ++l) {
    device().enter(Phase::backward, l);
    forward_layer(l);
  }
  outputs_[last] = Buffer();  // Computed as frameworks do, and used by nothing.
}

void Trainer::backward_layer(std::size_t l, Buffer& dy) {
  const Tensor x = input_of(l);
  const std::vector<Tensor> parameters = parameters_->acquire();
  const std::vector<Tensor> d_parameters = gradients_->begin(l);
  if (model_.has_tied_output() && l + 1 == model_.layer_count()) {
    tied_gradient_ =
        memory(Category::communication_buckets, options_.precision, geometry_.tensor_elements(0));
  }
  Buffer dx = l > 0 ? activation(l - 1) : Buffer();
  for (const KernelCost& kernel : backward_kernels(model_, l, rows_, options_.precision)) {
    device().compute(kernel.kernel, kernel.cost);
  }
  if (dy.tensor().is_real()) {
    const LinearShape shape = model_.layer(l);
    linear_backward_parameters(shape, rows_, x, dy.tensor(), {d_parameters[0], d_parameters[1]});
    if (l > 0) {
      linear_backward_input(shape, rows_, dy.tensor(), parameters[0], dx.tensor());
      activation_backward(model_.activation, x, dx.tensor());
    }
  }
  if (l > 0) {
    dy = std::move(dx);
  } else {
    tied_gradient_ = Buffer();
  }
  saved_[l] = Buffer();
  parameters_->release();
  gradients_->ready(l);
}

Tensor Trainer::input_of(std::size_t layer) const {
  return layer == 0 ? inputs_.tensor() : outputs_[layer - 1].tensor();
}

// Of a layer's output, or its gradient.
Buffer Trainer::activation(std::size_t layer) {
  return memory(Category::activations, options_.precision, rows_ * model_.output_elements(layer));
}

Buffer Trainer::memory(Category category, DType dtype, std::size_t elements) {
  return {device().memory(),       category,           dtype, elements,
          groups_.shard.storage(), Contents::undefined};
}

}  // namespace shardscope
