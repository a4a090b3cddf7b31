// Closed forms of what a strategy holds and sends, from the papers' tables and the shard rule
// alone; what a run measures is compared with them. b is the bytes of a parameter (2 in mixed
// precision, 4 in fp32), N the world size, P_u the elements of a unit (all parameters, or one
// layer), and k_u = ceil(P_u / N).
#pragma once

#include <cstdint>
#include <vector>

#include "core/nn/model.h"
#include "core/tensor/dtype.h"
#include "core/tensor/ledger.h"
#include "core/training/strategy.h"

namespace shardscope {

/// Model states of each rank, padding included (ZeRO, arXiv 1910.02054, section 5 and table 1):
///   replicated parameters, gradients: b N sum(k_u); sharded: b sum(k_u);
///   master weights (half types only) and each moment: 4 sum(k_u);
///   nothing sharded (ddp): b P, b P, 4 P, 4 P, 4 P.
/// Categories beyond the states are 0.
CategoryBytes predicted_state_bytes(const Strategy& strategy, const ModelSpec& model,
                                    int world_size, DType precision);

/// The same for a model of which only the number of parameters is known, as one unit.
CategoryBytes model_state_bytes(const Strategy& strategy, std::uint64_t parameters, int world_size,
                                DType precision);

/// Bytes a rank sends per step. With ring collectives rank r sends, of a vector of S elements in
/// chunks s_0 .. s_N-1: reduce_scatter S - s_r, all_gather S - s_(r+1 mod N), all_reduce both.
/// Gradients travel in reduce_precision, parameters in precision:
///   ddp: all_reduce(P); naive_zero: all_reduce(P) + all_gather(N k); zero1: reduce_scatter(N k) +
///   all_gather(N k); zero2: per layer reduce_scatter(N k_l), then all_gather(N sum(k_l));
///   zero3: per layer 2 all_gather(N k_l) + reduce_scatter(N k_l).
std::uint64_t predicted_sent_bytes(const Strategy& strategy, const ModelSpec& model, int world_size,
                                   int rank, DType precision, DType reduce_precision);

}  // namespace shardscope
