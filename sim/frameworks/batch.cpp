#include "sim/frameworks/batch.h"

namespace shardscope {
namespace {

constexpr const char* kField = "train_batch_size";

// Refuses a division with a remainder. Factors are below 2^32 and ranks few.
std::optional<std::uint64_t> divide(std::uint64_t train, std::uint64_t factor, std::uint64_t ranks,
                                    const char* factor_name, Position position,
                                    ConfigReading& reading) {
  const std::uint64_t product = factor * ranks;
  if (train % product == 0) return train / product;
  reading.conflict(position, kField,
                   std::to_string(train) + " is no multiple of " + std::to_string(factor) + " (" +
                       factor_name + ") x " + std::to_string(ranks) +
                       " (ranks) = " + std::to_string(product),
                   "a multiple of it");
  return std::nullopt;
}

}  // namespace

void work_out_batch(const GivenBatch& given, std::uint64_t ranks, ConfigReading& reading) {
  FrameworkConfig& config = reading.config;
  config.train_batch = given.train;
  config.gives_train_batch = given.train.has_value();
  config.micro_batch = given.micro;
  config.accumulation = given.accumulation;
  if (!given.train && !given.micro) return;
  if (ranks == 0) return;
  if (!given.train) {
    config.accumulation = given.accumulation.value_or(1);
    config.train_batch = *given.micro * *config.accumulation * ranks;
    return;
  }
  if (!given.micro) {
    config.accumulation = given.accumulation.value_or(1);
    config.micro_batch =
        divide(*given.train, *config.accumulation, ranks, "accumulation", given.position, reading);
    return;
  }
  if (!given.accumulation) {
    config.accumulation =
        divide(*given.train, *given.micro, ranks, "micro-batch", given.position, reading);
    return;
  }
  const std::uint64_t product = *given.micro * *given.accumulation * ranks;
  if (product != *given.train) {
    reading.conflict(given.position, kField,
                     std::to_string(*given.train) + " is not " + std::to_string(*given.micro) +
                         " (micro-batch) x " + std::to_string(*given.accumulation) +
                         " (accumulation) x " + std::to_string(ranks) +
                         " (ranks) = " + std::to_string(product),
                     "train_batch_size = train_micro_batch_size_per_gpu x "
                     "gradient_accumulation_steps x ranks");
  }
}

}  // namespace shardscope
