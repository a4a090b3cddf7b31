// The batch of an optimizer step: train_batch_size = micro-batch x accumulation x ranks.
#pragma once

#include "sim/frameworks/key_table.h"

namespace shardscope {

/// What a file says of the three; missing is what it leaves open, "auto" included.
struct GivenBatch {
  std::optional<std::uint64_t> train;
  std::optional<std::uint64_t> micro;
  std::optional<std::uint64_t> accumulation;
  Position position;  ///< Of the key that faults are about.
};

/// Works out what is missing as DeepSpeed does (runtime/config.py, _set_batch_related_parameters):
/// accumulation is 1 if only one of the others is known. Nothing is worked out for 0 ranks. A
/// product that is another, or a division with a remainder, is a fault that shows the numbers.
void work_out_batch(const GivenBatch& given, std::uint64_t ranks, ConfigReading& reading);

}  // namespace shardscope
