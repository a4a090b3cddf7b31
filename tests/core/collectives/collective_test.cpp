// Every collective really run, on every small world, count, root and type, against a plain sum, and
// under every algorithm.

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "core/collectives/closed_forms.h"
#include "core/data/generator.h"
#include "core/device/process_group.h"
#include "core/tensor/kernels.h"
#include "tests/core/support/half.h"
#include "tests/core/support/plans.h"
#include "tests/core/support/recording_device.h"
#include "tests/core/support/stated_order.h"

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

// The sum in the order that the algorithm's header states, each add rounded to dtype.
float ordered_sum(const CollectivePlan& plan, Operation operation, DType dtype, int world,
                  const Chunking& chunking, std::size_t element, const Values& values) {
  return stated_sum(
      plan, operation, world, chunking, element,
      [&](int rank) { return static_cast<float>(nearest(dtype, values(rank, element))); },
      [&](float a, float b) { return static_cast<float>(nearest(dtype, a + b)); });
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
bool expected(const CollectivePlan& plan, const Case& c, int rank, int world,
              const Chunking& chunking, std::size_t i, const Values& values, float& value) {
  const auto chunk = static_cast<int>(i / chunking.chunk);
  switch (c.operation) {
    case Operation::all_reduce:
      value = ordered_sum(plan, c.operation, c.dtype, world, chunking, i, values);
      return true;
    case Operation::reduce_scatter:
      value = ordered_sum(plan, c.operation, c.dtype, world, chunking, i, values);
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

void check_case(const NamedPlan& plan, const Case& c, ProcessGroup& group,
                const RecordingDevice& device, const Values& values) {
  const int rank = group.rank();
  const int world = group.world_size();
  std::vector<std::byte> memory = store(c.dtype, values_of(rank, c.count, values));
  std::byte nothing{};  // An empty vector may have no memory at all.
  const Tensor tensor{memory.empty() ? &nothing : memory.data(), c.dtype, c.count};
  const ChunkedTensor data = ChunkedTensor::even(tensor, world);
  const std::uint64_t sent_before = device.transport().sent_bytes();
  start(group, c, data)->wait();

  EXPECT_EQ(
      device.transport().sent_bytes() - sent_before,
      predicted_sent_elements({*plan.plan, c.operation, world, data.chunking(), c.root}, rank) *
          size_of(c.dtype))
      << plan.name << " " << text(c, rank, world);
  const std::vector<float> result = load(c.dtype, memory);
  for (std::size_t i = 0; i < c.count; ++i) {
    float value = 0;
    if (expected(*plan.plan, c, rank, world, data.chunking(), i, values, value)) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(result[i]), std::bit_cast<std::uint32_t>(value))
          << plan.name << " " << text(c, rank, world) << ", element " << i << ": " << result[i]
          << ", not " << value;
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

void check_world(const NamedPlan& plan, int world, const std::vector<Case>& cases,
                 const Values& values) {
  const FixedPlanner planner(plan.plan);
  run_local_cluster(world, [&](LocalRank local) {
    RecordingDevice device(local);
    ProcessGroup group(device, local.transport.rank(), world, Storage::real, planner);
    for (const Case& c : cases) {
      check_case(plan, c, group, device, values);
    }
    EXPECT_EQ(device.memory().current_total(), 0U) << "staging is left behind";
  });
}

void check_rings(const Values& values) {
  for (int world = 1; world <= kMaxWorld; ++world) {
    check_world({"RING", simple_plan(Algorithm::ring, world)}, world, cases(world), values);
  }
}

// A few of the cases; all of them are played as schedules.
std::vector<Case> few_cases(int world) {
  std::vector<Case> few;
  std::size_t i = 0;
  for (const Case& c : cases(world)) {
    if (++i % 29 == 0) {
      few.push_back(c);
    }
  }
  return few;
}

void check_plans(const Values& values) {
  for (int world = 1; world <= kMaxWorld; ++world) {
    for (const NamedPlan& plan : plans_of(world)) {
      check_world(plan, world, few_cases(world), values);
    }
  }
}

TEST(Collective, SumsOfIntegersAreExact) {
  // The oracle itself: in any order the sum is the plain one.
  for (int world = 1; world <= kMaxWorld; ++world) {
    const Chunking chunking = Chunking::even(kMaxCount, world);
    for (const NamedPlan& plan : plans_of(world)) {
      for (std::size_t i = 0; i < kMaxCount; ++i) {
        float plain = 0;
        for (int rank = 0; rank < world; ++rank) {
          plain += small_integer(rank, i);
        }
        for (const DType dtype : kTypes) {
          for (const Operation operation : {Operation::all_reduce, Operation::reduce_scatter}) {
            ASSERT_EQ(ordered_sum(*plan.plan, operation, dtype, world, chunking, i, small_integer),
                      plain);
          }
        }
      }
    }
  }
  check_rings(small_integer);
  check_plans(small_integer);
}

TEST(Collective, AddsInTheDocumentedOrder) {
  const Chunking chunking = Chunking::even(kMaxCount, 8);
  std::vector<std::vector<float>> sums;  // By plan.
  for (const Algorithm algorithm : kAlgorithms) {
    std::vector<float>& of_plan = sums.emplace_back();
    for (std::size_t i = 0; i < kMaxCount; ++i) {
      of_plan.push_back(ordered_sum(*simple_plan(algorithm, 8), Operation::all_reduce, DType::fp32,
                                    8, chunking, i, random_value));
    }
  }
  for (std::size_t a = 0; a < sums.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      int different = 0;
      for (std::size_t i = 0; i < kMaxCount; ++i) {
        different += sums[a][i] != sums[b][i] ? 1 : 0;
      }
      ASSERT_GE(different, 3) << "the values do not tell one order from another";
    }
  }
  check_rings(random_value);
  check_plans(random_value);
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
void gather_parts(const NamedPlan& plan, DType dtype, int world) {
  const auto n = static_cast<std::size_t>(world);
  const FixedPlanner planner(plan.plan);
  run_local_cluster(world, [&](LocalRank local) {
    SCOPED_TRACE(plan.name + ", world " + std::to_string(world));
    RecordingDevice device(local);
    const int rank = local.transport.rank();
    ProcessGroup group(device, rank, world, Storage::real, planner);
    std::vector<std::byte> first = store(dtype, values_of(rank, 2 * n, random_value));
    std::vector<std::byte> last = store(dtype, values_of(rank + 50, 3 * n, random_value));
    const ChunkedTensor data({{{first.data(), dtype, 2 * n}, 2},
                              {{first.data(), dtype, 0}, 0},
                              {{last.data(), dtype, 3 * n}, 3}},
                             world);
    group.all_gather(data)->wait();
    const CollectiveShape shape = {*plan.plan, Operation::all_gather, world, data.chunking()};
    EXPECT_EQ(device.transport().sent_bytes(),
              predicted_sent_elements(shape, rank) * size_of(dtype));
    const Staging staging = predicted_staging(shape, rank);
    EXPECT_EQ(device.memory().peak_total(), (staging.sent + staging.received) * size_of(dtype));
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

TEST(Collective, SeveralPartsTravelInOneAllGather) {
  for (const DType dtype : kTypes) {
    for (int world = 1; world <= kMaxWorld; ++world) {
      for (const NamedPlan& plan : plans_of(world)) {
        gather_parts(plan, dtype, world);
      }
    }
  }
}

// Staging lives from the collective's making to its end.
TEST(Collective, HoldsTheStagingOfTheClosedForm) {
  for (int world = 1; world <= kMaxWorld; ++world) {
    for (const NamedPlan& plan : plans_of(world)) {
      for (const Case& c : few_cases(world)) {
        for (int rank = 0; rank < world; ++rank) {
          SCOPED_TRACE(plan.name + " " + text(c, rank, world));
          const ChunkedTensor data = ChunkedTensor::even({nullptr, c.dtype, c.count}, world);
          MemoryLedger ledger;
          const Collective collective(
              make_schedule(c.operation, plan.plan, world, data.chunking(), c.root), data,
              {.first = 0, .stride = 1, .size = world}, rank, Purpose::data, std::nullopt, ledger,
              Storage::shape_only);
          const Staging staging =
              predicted_staging({*plan.plan, c.operation, world, data.chunking(), c.root}, rank);
          EXPECT_EQ(ledger.current_total(), staging.added * size_of(c.dtype));
        }
      }
    }
  }
}

TEST(Collective, ShapeOnlySendsAndStagesTheSame) {
  for (int world = 1; world <= kMaxWorld; ++world) {
    run_local_cluster(world, [&](LocalRank local) {
      const int rank = local.transport.rank();
      const FixedPlanner planner(
          simple_plan(kAlgorithms[static_cast<std::size_t>(world) % kAlgorithms.size()], world));
      for (const Case& c : cases(world)) {
        std::vector<std::byte> memory(c.count * size_of(c.dtype) + 1);
        std::vector<std::vector<DeviceEvent>> events;
        std::vector<std::uint64_t> figures;
        for (const Storage storage : {Storage::real, Storage::shape_only}) {
          RecordingDevice device(local);
          ProcessGroup group(device, rank, world, storage, planner);
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
        const Tensor data = Tensor::of(&value, 1);
        local.transport.recv(thrower, {&data, 1}, Arrival::replaces);
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "rank " + std::to_string(thrower));
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
