// Adam beside a plain copy of the same bytes. An update moves 28 bytes a parameter: in fp32 weight,
// gradient and two moments are read and three of them written; with a half type the gradient takes
// two bytes and the rounded parameter is written as well. The copy reads 14 and writes 14. On what
// quickstart trains Adam should reach 0.6 of its bandwidth.

#include <cstring>
#include <memory>

#include "core/data/generator.h"
#include "core/nn/adam.h"
#include "core/tensor/buffer.h"
#include "core/tensor/kernels.h"
#include "tests/bench/side_by_side.h"

namespace shardscope::bench {
namespace {

void adam(benchmark::State& state, DType precision) {
  const auto count = static_cast<std::size_t>(state.range(0));
  MemoryLedger ledger;
  const auto buffer = [&](Category category, DType dtype, std::size_t elements) {
    return Buffer(ledger, category, dtype, elements, Storage::real);
  };
  const Buffer weights = buffer(Category::master_weights, DType::fp32, count);
  const Buffer first_moment = buffer(Category::first_moment, DType::fp32, count);
  const Buffer second_moment = buffer(Category::second_moment, DType::fp32, count);
  const Buffer gradients = buffer(Category::gradients, precision, count);
  const Buffer parameters = buffer(Category::parameters, precision, count);
  for (std::size_t i = 0; i < count; ++i) {
    weights.tensor().fp32()[i] = uniform(1, i);
  }
  convert(gradients.tensor(), weights.tensor());
  const std::size_t copied = 14 * count;
  const Buffer from = buffer(Category::inputs, DType::bf16, copied / 2);
  const Buffer to = buffer(Category::inputs, DType::bf16, copied / 2);

  std::int64_t t = 0;
  side_by_side(
      state,
      [&] {
        adam_update(
            {}, ++t, {},
            {.parameters = weights.tensor(),
             .gradients = gradients.tensor(),
             .first_moment = first_moment.tensor(),
             .second_moment = second_moment.tensor(),
             .rounded_parameters = precision == DType::fp32 ? Tensor{} : parameters.tensor()});
      },
      [&] {
        std::memcpy(to.tensor().data, from.tensor().data, copied);
        benchmark::ClobberMemory();
      });
  state.counters["bytes_per_second"] = benchmark::Counter(
      28.0 * static_cast<double>(count), benchmark::Counter::kIsIterationInvariantRate);
}

// 16 Ki parameters lie in a core's own caches, where Adam is bound by its square root and its
// division; then a shard of quickstart's model on eight ranks, the whole model, and 224 MiB that
// lie in no cache.
void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("parameters")->UseManualTime();
  for (const int parameters : {16 << 10, 49'360, 394'880, 8 << 20}) {
    benchmark->Arg(parameters);
  }
}

BENCHMARK_CAPTURE(adam, fp32, DType::fp32)->Apply(sizes);
BENCHMARK_CAPTURE(adam, bf16, DType::bf16)->Apply(sizes);
BENCHMARK_CAPTURE(adam, fp16, DType::fp16)->Apply(sizes);

}  // namespace
}  // namespace shardscope::bench
