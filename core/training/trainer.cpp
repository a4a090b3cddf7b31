#include "core/training/trainer.h"

#include <utility>

#include "core/check.h"
#include "core/nn/linear.h"
#include "core/nn/loss.h"
#include "core/tensor/kernels.h"

namespace shardscope {

Trainer::Trainer(const Strategy& strategy, const ModelSpec& model, const TrainingOptions& options,
                 ProcessGroup& group, const BatchSource* batches)
    : strategy_(strategy),
      model_(model),
      options_(options),
      group_(group),
      batches_(batches),
      geometry_(strategy, model, group.world_size()),
      rows_(options.global_batch / static_cast<std::size_t>(group.world_size())) {
  SHARDSCOPE_CHECK(options.global_batch % static_cast<std::size_t>(group.world_size()) == 0,
                   "the world size does not divide the batch");
}

void Trainer::initialize(const WeightSource& source) {
  MemoryLedger& memory = device().memory();
  parameters_.emplace(strategy_, geometry_, model_, options_.precision, group_, source);
  gradients_.emplace(strategy_, geometry_, model_, options_.precision, options_.reduce_precision,
                     group_);
  optimizer_.emplace(strategy_, options_, geometry_, model_, *parameters_, *gradients_, group_,
                     source);
  inputs_ = Buffer(memory, Category::inputs, options_.precision, rows_ * model_.input_width(),
                   group_.storage());
  targets_ = Buffer(memory, Category::inputs, target_dtype(model_.loss),
                    target_elements(model_.loss, rows_, model_.output_width()), group_.storage());
}

StepDiagnostics Trainer::step(std::int64_t t) {
  device().begin_step(t);
  load_batch(t);
  const double loss = forward();
  backward();
  optimizer_->step(t);
  return {.local_loss = loss, .gradient_sum_of_squares = optimizer_->gradient_sum_of_squares()};
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

void Trainer::load_batch(std::int64_t t) {
  if (group_.storage() == Storage::shape_only) {
    return;
  }
  const auto step = static_cast<std::size_t>(t - 1);
  const std::size_t first_row = static_cast<std::size_t>(group_.rank()) * rows_;
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
    const LinearShape shape = model_.layer(l);
    const bool last = l + 1 == model_.layer_count();
    const Tensor parameters = parameters_->acquire(l);
    outputs_.push_back(activation(shape.out));
    device().compute("linear",
                     linear_forward_cost(shape, rows_, /*activated=*/!last, options_.precision));
    linear_forward(shape, rows_, last ? std::nullopt : std::optional(model_.activation),
                   input_of(l), parameters, outputs_.back().tensor());
    parameters_->release(l);
  }
  device().compute(
      "loss", loss_forward_cost(model_.loss, rows_, model_.output_width(), options_.precision));
  return loss_forward(model_.loss, rows_, model_.output_width(), outputs_.back().tensor(),
                      targets_.tensor());
}

void Trainer::backward() {
  device().enter(Phase::backward, model_.layer_count() - 1);
  Buffer dy = activation(model_.output_width());
  device().compute(
      "loss", loss_backward_cost(model_.loss, rows_, model_.output_width(), options_.precision));
  loss_backward(model_.loss, rows_, model_.output_width(), options_.loss_scale,
                outputs_.back().tensor(), targets_.tensor(), dy.tensor());
  for (std::size_t l = model_.layer_count(); l-- > 0;) {
    device().enter(Phase::backward, l);
    const LinearShape shape = model_.layer(l);
    const Tensor x = input_of(l);
    outputs_.pop_back();
    const Tensor parameters = parameters_->acquire(l);
    const Tensor d_parameters = gradients_->begin(l);
    device().compute("parameters",
                     linear_backward_parameters_cost(shape, rows_, options_.precision));
    linear_backward_parameters(shape, rows_, x, dy.tensor(), d_parameters);
    if (l > 0) {
      Buffer dx = activation(shape.in);
      device().compute("input", linear_backward_input_cost(shape, rows_, options_.precision));
      linear_backward_input(shape, rows_, dy.tensor(), parameters, dx.tensor());
      activation_backward(model_.activation, x, dx.tensor());
      dy = std::move(dx);
    }
    parameters_->release(l);
    gradients_->ready(l);
  }
}

Tensor Trainer::input_of(std::size_t layer) const {
  return layer == 0 ? inputs_.tensor() : outputs_[layer - 1].tensor();
}

Buffer Trainer::activation(std::size_t width) {
  return {device().memory(), Category::activations, options_.precision,
          rows_ * width,     group_.storage(),      Contents::undefined};
}

}  // namespace shardscope
