// Every collective really run, on every small world, count, root and type, against a plain sum.

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "core/data/generator.h"
#include "core/device/process_group.h"
#include "core/tensor/kernels.h"
#include "tests/core/support/half.h"
#include "tests/core/support/recording_device.h"

namespace shardscope::testing {
namespace {

constexpr int kMaxWorld = 9;
constexpr std::size_t kMaxCount = 20;
constexpr DType kTypes[] = {DType::fp32, DType::bf16, DType::fp16};

// The value of an element on a rank.
using Values = std::function<float(int rank, std::size_t element)>;

// Integers so small that every sum over ranks is exact in every type.
float small_integer(int rank, std::size_t element) {
  return static_cast<float>((static_cast<std::size_t>(rank) * 7 + element * 5) % 23) - 11.0F;
}

// Numbers whose sum depends on the order of additions.
float random_value(int rank, std::size_t element) {
  const auto seed = static_cast<std::uint64_t>(rank);
  const float scale = std::ldexp(1.0F, static_cast<int>(splitmix64(seed, 1000 + element) % 16));
  return uniform(seed, element) * scale;
}

std::vector<std::byte> store(DType dtype, const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  std::vector<float> copy = values;
  if (!values.empty()) {
    convert({bytes.data(), dtype, values.size()}, Tensor::of(copy.data(), copy.size()));
  }
  return bytes;
}

std::vector<float> load(DType dtype, std::vector<std::byte> bytes) {
  std::vector<float> values(bytes.size() / size_of(dtype));
  if (!values.empty()) {
    convert(Tensor::of(values.data(), values.size()), {bytes.data(), dtype, values.size()});
  }
  return values;
}

std::vector<float> values_of(int rank, std::size_t count, const Values& values) {
  std::vector<float> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = values(rank, i);
  }
  return result;
}

// The documented order: ((g[c+1] + g[c+2]) + ...) + g[c], ranks mod N, each add rounded to dtype.
float ring_sum(DType dtype, int world, int chunk, std::size_t element, const Values& values) {
  const auto addend = [&](int rank) {
    return static_cast<float>(nearest(dtype, values(rank % world, element)));
  };
  float sum = addend(chunk + 1);
  for (int i = 2; i <= world; ++i) {
    sum = static_cast<float>(nearest(dtype, sum + addend(chunk + i)));
  }
  return sum;
}

struct Case {
  Operation operation;
  DType dtype;
  std::size_t count;
  int root;
};

std::string text(const Case& c, int rank, int world) {
  return std::string(name(c.operation)) + " of " + std::to_string(c.count) + " " +
         std::string(name(c.dtype)) + " over " + std::to_string(world) + " ranks, root " +
         std::to_string(c.root) + ", rank " + std::to_string(rank);
}

std::unique_ptr<Work> start(ProcessGroup& group, const Case& c, const ChunkedTensor& data) {
  switch (c.operation) {
    case Operation::all_reduce:
      return group.all_reduce(data);
    case Operation::reduce_scatter:
      return group.reduce_scatter(data);
    case Operation::all_gather:
      return group.all_gather(data);
    case Operation::broadcast:
      return group.broadcast(data, c.root);
    case Operation::barrier:
      break;
  }
  return group.barrier();
}

// What element i of the rank must be afterwards; false where the collective leaves anything.
bool expected(const Case& c, int rank, int world, int chunk, std::size_t i, const Values& values,
              float& value) {
  switch (c.operation) {
    case Operation::all_reduce:
      value = ring_sum(c.dtype, world, chunk, i, values);
      return true;
    case Operation::reduce_scatter:
      value = ring_sum(c.dtype, world, chunk, i, values);
      return chunk == rank;
    case Operation::all_gather:
      value = static_cast<float>(nearest(c.dtype, values(chunk, i)));
      return true;
    case Operation::broadcast:
      value = static_cast<float>(nearest(c.dtype, values(c.root, i)));
      return true;
    case Operation::barrier:
      return false;
  }
  return false;
}

void check_case(const Case& c, ProcessGroup& group, const RecordingDevice& device,
                const Values& values) {
  const int rank = group.rank();
  const int world = group.world_size();
  std::vector<std::byte> memory = store(c.dtype, values_of(rank, c.count, values));
  std::byte nothing{};  // An empty vector may have no memory at all.
  const Tensor tensor{memory.empty() ? &nothing : memory.data(), c.dtype, c.count};
  const ChunkedTensor data = ChunkedTensor::even(tensor, world);
  const std::uint64_t sent_before = device.transport().sent_bytes();
  start(group, c, data)->wait();

  const auto schedule = make_schedule(c.operation, Algorithm::ring, world, data.chunking(), c.root);
  EXPECT_EQ(device.transport().sent_bytes() - sent_before,
            sent_elements(*schedule, rank) * size_of(c.dtype))
      << text(c, rank, world);
  const std::vector<float> result = load(c.dtype, memory);
  for (std::size_t i = 0; i < c.count; ++i) {
    const auto chunk = static_cast<int>(i / data.chunking().chunk);
    float value = 0;
    if (expected(c, rank, world, chunk, i, values, value)) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(result[i]), std::bit_cast<std::uint32_t>(value))
          << text(c, rank, world) << ", element " << i << ": " << result[i] << ", not " << value;
    }
  }
}

std::vector<Case> cases(int world) {
  std::vector<Case> all;
  for (std::size_t count = 0; count <= kMaxCount; ++count) {
    for (const DType dtype : kTypes) {
      for (const Operation operation :
           {Operation::all_reduce, Operation::reduce_scatter, Operation::all_gather}) {
        all.push_back({operation, dtype, count, 0});
      }
      for (int root = 0; root < world; ++root) {
        all.push_back({Operation::broadcast, dtype, count, root});
      }
    }
  }
  return all;
}

void check_all(const Values& values) {
  for (int world = 1; world <= kMaxWorld; ++world) {
    run_local_cluster(world, [&](LocalRank local) {
      RecordingDevice device(local);
      ProcessGroup group(device, local.transport.rank(), world, Storage::real);
      for (const Case& c : cases(world)) {
        check_case(c, group, device, values);
      }
      EXPECT_EQ(device.memory().current_total(), 0U) << "staging is left behind";
    });
  }
}

TEST(Collective, SumsOfIntegersAreExact) {
  // The oracle itself: in any order the sum is the plain one.
  for (int world = 1; world <= kMaxWorld; ++world) {
    for (std::size_t i = 0; i < kMaxCount; ++i) {
      float plain = 0;
      for (int rank = 0; rank < world; ++rank) {
        plain += small_integer(rank, i);
      }
      for (const DType dtype : kTypes) {
        for (int chunk = 0; chunk < world; ++chunk) {
          ASSERT_EQ(ring_sum(dtype, world, chunk, i, small_integer), plain);
        }
      }
    }
  }
  check_all(small_integer);
}

TEST(Collective, AddsInTheDocumentedOrder) {
  int order_matters = 0;
  for (std::size_t i = 0; i < kMaxCount; ++i) {
    order_matters += ring_sum(DType::fp32, 8, 0, i, random_value) !=
                     ring_sum(DType::fp32, 8, 4, i, random_value);
  }
  ASSERT_GT(order_matters, 5) << "the values do not tell one order from another";
  check_all(random_value);
}

// A rank leaves a barrier only when all have come: while one stays away nobody else gets through.
TEST(Collective, NoRankPassesABarrierBeforeTheLastHasCome) {
  for (int world = 2; world <= kMaxWorld; ++world) {
    for (int late = 0; late < world; ++late) {
      std::atomic<bool> late_has_come = false;
      run_local_cluster(world, [&](LocalRank local) {
        ProcessGroup group(local.device, local.transport.rank(), world, Storage::real);
        if (local.transport.rank() == late) {
          late_has_come = true;
        }
        group.barrier()->wait();
        EXPECT_TRUE(late_has_come) << "world " << world << ", late " << late;
      });
    }
  }
}

// Three parts of 2, 0 and 3 elements a chunk: chunk c is chunk c of each, one after another.
TEST(Collective, SeveralPartsTravelInOneAllGather) {
  for (const DType dtype : kTypes) {
    for (int world = 1; world <= kMaxWorld; ++world) {
      const auto n = static_cast<std::size_t>(world);
      run_local_cluster(world, [&](LocalRank local) {
        RecordingDevice device(local);
        const int rank = local.transport.rank();
        ProcessGroup group(device, rank, world, Storage::real);
        std::vector<std::byte> first = store(dtype, values_of(rank, 2 * n, random_value));
        std::vector<std::byte> last = store(dtype, values_of(rank + 50, 3 * n, random_value));
        const ChunkedTensor data({{{first.data(), dtype, 2 * n}, 2},
                                  {{first.data(), dtype, 0}, 0},
                                  {{last.data(), dtype, 3 * n}, 3}},
                                 world);
        group.all_gather(data)->wait();
        EXPECT_EQ(device.transport().sent_messages(), n - 1);
        EXPECT_EQ(device.transport().sent_bytes(), (n - 1) * 5 * size_of(dtype));
        const std::vector<float> a = load(dtype, first);
        const std::vector<float> b = load(dtype, last);
        for (std::size_t i = 0; i < a.size(); ++i) {
          EXPECT_EQ(a[i], nearest(dtype, random_value(static_cast<int>(i / 2), i))) << i;
        }
        for (std::size_t i = 0; i < b.size(); ++i) {
          EXPECT_EQ(b[i], nearest(dtype, random_value(static_cast<int>(i / 3) + 50, i))) << i;
        }
      });
    }
  }
}

TEST(Collective, ShapeOnlySendsAndStagesTheSame) {
  for (int world = 1; world <= kMaxWorld; ++world) {
    run_local_cluster(world, [&](LocalRank local) {
      const int rank = local.transport.rank();
      for (const Case& c : cases(world)) {
        std::vector<std::byte> memory(c.count * size_of(c.dtype) + 1);
        std::vector<std::vector<DeviceEvent>> events;
        std::vector<std::uint64_t> figures;
        for (const Storage storage : {Storage::real, Storage::shape_only}) {
          RecordingDevice device(local);
          ProcessGroup group(device, rank, world, storage);
          const Tensor tensor{storage == Storage::real ? memory.data() : nullptr, c.dtype, c.count};
          start(group, c, ChunkedTensor::even(tensor, world))->wait();
          events.push_back(device.events());
          figures.push_back(device.transport().sent_bytes());
        }
        EXPECT_EQ(events[0], events[1]) << text(c, rank, world);
        EXPECT_EQ(figures[0], figures[1]) << text(c, rank, world);
      }
    });
  }
}

TEST(LocalCluster, RethrowsTheExceptionOfTheLowestRankThatThrew) {
  for (int thrower = 0; thrower < 4; ++thrower) {
    try {
      run_local_cluster(4, [&](LocalRank local) {
        if (local.transport.rank() == thrower) {
          throw std::runtime_error("rank " + std::to_string(thrower));
        }
        // The others wait for a message that never comes.
        float value = 0;
        local.transport.recv(thrower, Tensor::of(&value, 1), Arrival::replaces);
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "rank " + std::to_string(thrower));
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
