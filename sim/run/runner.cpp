#include "sim/run/runner.h"

#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "sim/checkpoint/writer.h"
#include "sim/cluster/simulation.h"
#include "sim/files/safetensors.h"
#include "sim/files/weights.h"
#include "sim/process/child.h"
#include "sim/result/result.pb.h"

namespace shardscope {
namespace {

// "ZERO2  step 7 of 20", at most ten times a second.
class Progress {
 public:
  Progress(std::string_view strategy, std::size_t steps) : strategy_(strategy), steps_(steps) {}

  void operator()(std::int64_t t) {
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_ < std::chrono::milliseconds(100)) {
      return;
    }
    shown_ = now;
    std::fprintf(stderr, "\r\033[K%s  step %lld of %zu", strategy_.c_str(),
                 static_cast<long long>(t), steps_);
  }

  static void clear() { std::fputs("\r\033[K", stderr); }

 private:
  std::string strategy_;
  std::size_t steps_;
  std::chrono::steady_clock::time_point shown_{};
};

std::vector<SafetensorsTensor> tensors_of(const ModelSpec& model) {
  std::vector<SafetensorsTensor> tensors;
  for (std::size_t l = 0; l < model.layer_count(); ++l) {
    const LinearShape shape = model.layer(l);
    tensors.push_back({tensor_name(l, LayerTensor::weight), DType::fp32, {shape.out, shape.in}});
    tensors.push_back({tensor_name(l, LayerTensor::bias), DType::fp32, {shape.out}});
  }
  return tensors;
}

CheckpointRun checkpoint_run(const Scenario& scenario, const Strategy& strategy,
                             const std::string& program) {
  return {.program = program,
          .scenario = scenario.name,
          .model = scenario.model,
          .precision = scenario.training.precision,
          .strategy = std::string(strategy.name),
          .world_size = scenario.world_size,
          .optimizer = scenario.training.optimizer};
}

// Layers' buffers come and go in every step: giving their memory back to the system each time costs
// more than the arithmetic on it. Larger blocks still go back, so that the host's peak stays near
// what the ranks hold.
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 32 << 20);
}

}  // namespace

std::string weights_path(const std::string& folder, const Strategy& strategy) {
  return folder + "/" + std::string(strategy.name) + ".safetensors";
}

RunResult simulate_strategy(const Scenario& scenario, const Strategy& strategy,
                            const Sources& sources, const RunOptions& options) {
  keep_freed_memory();
  SimulationOptions simulation;
  simulation.threads = options.threads;
  simulation.recorded = options.recorded;
  if (options.show_progress) {
    simulation.on_step = Progress(strategy.name, scenario.training.steps);
  }
  simulation.resumed = options.resumed;
  std::optional<CheckpointWriter> checkpoints;
  if (scenario.checkpoint.has_value() && !options.program.empty()) {
    checkpoints.emplace(scenario.checkpoint->directory, scenario.checkpoint->keep,
                        checkpoint_run(scenario, strategy, options.program));
    simulation.on_checkpoint = [&](const TrainingProgress& progress,
                                   const std::vector<std::vector<OwnedState>>& owned) {
      std::string error;
      const bool saved = checkpoints->write(progress, owned, error).has_value();
      return saved ? std::nullopt : std::optional(error);
    };
  }
  std::optional<SafetensorsWriter> writer;
  if (options.save_weights.has_value()) {
    simulation.on_weights = [&](Tensor weights) {
      if (!writer.has_value()) {
        writer.emplace(weights_path(*options.save_weights, strategy), tensors_of(scenario.model));
      }
      writer->write(weights.data, weights.bytes());
    };
  }
  RunResult result =
      simulate(scenario, strategy, *sources.weights, sources.batches.get(), simulation);
  if (writer.has_value()) {
    if (const std::optional<std::string> error = writer->finish()) {
      throw std::runtime_error(*error);
    }
  }
  return result;
}

RunResult run_strategy(const Scenario& scenario, const Strategy& strategy, const Sources& sources,
                       const RunOptions& options) {
  const ChildResult child = run_in_child(
      [&] { return simulate_strategy(scenario, strategy, sources, options).SerializeAsString(); });
  if (options.show_progress) {
    Progress::clear();
  }
  RunResult result;
  if (child.ok && result.ParseFromString(child.output)) {
    return result;
  }
  result.Clear();
  result.set_strategy(std::string(strategy.name));
  result.set_world_size(scenario.world_size);
  result.set_parameters(scenario.model.parameters());
  result.set_outcome("failed");
  result.set_failure(child.ok ? "its result cannot be read" : child.failure);
  return result;
}

}  // namespace shardscope
