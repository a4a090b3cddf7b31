// The fp32 products of the layers of quickstart's model, 128-512-512-128, at the rows of one rank
// of eight and of one, beside Eigen's product alone: no bias, no activation, the same memory. Whole
// layer functions should reach 0.8 of Eigen.

#include <Eigen/Core>
#include <vector>

#include "core/data/generator.h"
#include "core/nn/linear.h"
#include "tests/bench/side_by_side.h"

namespace shardscope::bench {
namespace {

using Map = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

// fp32 memory aligned as a Buffer is.
class Matrix {
 public:
  Matrix(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns) {
    data_.resize(rows * columns);
    for (std::size_t i = 0; i < data_.size(); ++i) {
      data_[i] = uniform(1, i);
    }
  }

  Tensor tensor() { return Tensor::of(data_.data(), data_.size()); }
  Map eigen(std::size_t rows) {
    return {data_.data(), static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns_)};
  }
  Map eigen() { return eigen(rows_); }

 private:
  std::size_t rows_;
  std::size_t columns_;
  std::vector<float, Eigen::aligned_allocator<float>> data_;
};

// Operands of one layer. Parameters are W with b as one more row's worth of memory behind it.
struct Layer {
  explicit Layer(const benchmark::State& state)
      : rows(static_cast<std::size_t>(state.range(0))),
        shape{static_cast<std::size_t>(state.range(1)), static_cast<std::size_t>(state.range(2))},
        x(rows, shape.in),
        y(rows, shape.out),
        parameters(shape.elements(), 1),
        gradient(shape.elements(), 1) {}

  Map weight(Matrix& of) {
    return {of.tensor().fp32(), static_cast<Eigen::Index>(shape.out),
            static_cast<Eigen::Index>(shape.in)};
  }

  std::size_t rows;
  LinearShape shape;
  Matrix x;
  Matrix y;
  Matrix parameters;
  Matrix gradient;
};

void forward(benchmark::State& state) {
  Layer l(state);
  side_by_side(
      state,
      [&] {
        linear_forward(l.shape, l.rows, Activation::relu, l.x.tensor(),
                       LinearTensors::together(l.shape, l.parameters.tensor()), l.y.tensor());
      },
      [&] {
        l.y.eigen().noalias() = l.x.eigen() * l.weight(l.parameters).transpose();
        benchmark::ClobberMemory();
      });
}

void backward_parameters(benchmark::State& state) {
  Layer l(state);
  side_by_side(
      state,
      [&] {
        linear_backward_parameters(l.shape, l.rows, l.x.tensor(), l.y.tensor(),
                                   LinearTensors::together(l.shape, l.gradient.tensor()));
      },
      [&] {
        l.weight(l.gradient).noalias() = l.y.eigen().transpose() * l.x.eigen();
        benchmark::ClobberMemory();
      });
}

void backward_input(benchmark::State& state) {
  Layer l(state);
  side_by_side(
      state,
      [&] {
        linear_backward_input(l.shape, l.rows, l.y.tensor(),
                              LinearTensors::together(l.shape, l.parameters.tensor()).weight,
                              l.x.tensor());
      },
      [&] {
        l.x.eigen().noalias() = l.y.eigen() * l.weight(l.parameters);
        benchmark::ClobberMemory();
      });
}

void quickstart_layers(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"rows", "in", "out"})->UseManualTime();
  for (const int rows : {8, 64}) {
    benchmark->Args({rows, 128, 512})->Args({rows, 512, 512})->Args({rows, 512, 128});
  }
}

BENCHMARK(forward)->Apply(quickstart_layers);
BENCHMARK(backward_parameters)->Apply(quickstart_layers);
BENCHMARK(backward_input)->Apply(quickstart_layers);

}  // namespace
}  // namespace shardscope::bench
