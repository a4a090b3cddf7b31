#include "core/nn/cost.h"

#include "core/nn/loss.h"

namespace shardscope {
namespace {

double product(LinearShape shape, std::size_t rows) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(shape.weight_elements());
}

double target_bytes(Loss loss, std::size_t rows, std::size_t width) {
  return static_cast<double>(target_elements(loss, rows, width) * size_of(target_dtype(loss)));
}

double bytes(std::size_t elements, DType dtype) {
  return static_cast<double>(elements) * static_cast<double>(size_of(dtype));
}

}  // namespace

std::vector<KernelCost> forward_kernels(const ModelSpec& model, std::size_t layer, std::size_t rows,
                                        DType dtype) {
  if (model.transformer.has_value()) {
    return forward_kernels(*model.transformer, layer, rows, dtype);
  }
  const bool last = layer + 1 == model.layer_count();
  return {{"linear", linear_forward_cost(model.layer(layer), rows, /*activated=*/!last, dtype)}};
}

std::vector<KernelCost> backward_kernels(const ModelSpec& model, std::size_t layer,
                                         std::size_t rows, DType dtype) {
  if (model.transformer.has_value()) {
    return backward_kernels(*model.transformer, layer, rows, dtype);
  }
  const LinearShape shape = model.layer(layer);
  std::vector<KernelCost> kernels = {
      {"parameters", linear_backward_parameters_cost(shape, rows, dtype)}};
  if (layer > 0) {
    kernels.push_back({"input", linear_backward_input_cost(shape, rows, dtype)});
  }
  return kernels;
}

Cost linear_forward_cost(LinearShape shape, std::size_t rows, bool activated, DType dtype) {
  const double per_output = activated ? 2.0 : 1.0;
  return {product(shape, rows) + per_output * static_cast<double>(rows * shape.out),
          bytes(rows * shape.in + shape.elements() + rows * shape.out, dtype)};
}

Cost linear_backward_parameters_cost(LinearShape shape, std::size_t rows, DType dtype) {
  return {product(shape, rows) + static_cast<double>(rows * shape.out),
          bytes(rows * shape.in + rows * shape.out + shape.elements(), dtype)};
}

Cost linear_backward_input_cost(LinearShape shape, std::size_t rows, DType dtype) {
  return {product(shape, rows) + 2.0 * static_cast<double>(rows * shape.in),
          bytes(rows * shape.out + shape.weight_elements() + 2 * rows * shape.in, dtype)};
}

Cost loss_forward_cost(Loss loss, std::size_t rows, std::size_t width, DType dtype) {
  return {5.0 * static_cast<double>(rows * width),
          bytes(rows * width, dtype) + target_bytes(loss, rows, width)};
}

Cost loss_backward_cost(Loss loss, std::size_t rows, std::size_t width, DType dtype) {
  return {5.0 * static_cast<double>(rows * width),
          bytes(2 * rows * width, dtype) + target_bytes(loss, rows, width)};
}

Cost convert_cost(std::size_t elements, DType from, DType to) {
  return {static_cast<double>(elements), bytes(elements, from) + bytes(elements, to)};
}

Cost accumulate_cost(std::size_t elements, DType addend, DType sum) {
  return {static_cast<double>(elements), bytes(elements, addend) + 2.0 * bytes(elements, sum)};
}

Cost average_cost(std::size_t elements, DType from, DType to) {
  return convert_cost(elements, from, to);
}

Cost sum_of_squares_cost(std::size_t elements, DType dtype) {
  return {2.0 * static_cast<double>(elements), bytes(elements, dtype)};
}

Cost adam_cost(std::size_t elements, DType precision, DType gradients) {
  const double fp32_traffic = 6.0 * bytes(elements, DType::fp32);
  const double half_parameters = precision == DType::fp32 ? 0.0 : bytes(elements, precision);
  return {14.0 * static_cast<double>(elements),
          fp32_traffic + bytes(elements, gradients) + half_parameters};
}

}  // namespace shardscope
