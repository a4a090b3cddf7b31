#include "sim/scenario/digest.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>
#include <type_traits>

#include "core/data/digest.h"
#include "sim/scenario/strategy_options.h"

namespace shardscope {
namespace {

// Writes values one after another, each with its name, so that no two contents run together.
class Canonical {
 public:
  void text(std::string_view name, std::string_view value) {
    add(name);
    add(value);
  }
  void whole(std::string_view name, std::uint64_t value) { text(name, std::to_string(value)); }
  // All bits of the value; -0 counts as 0.
  void number(std::string_view name, double value) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%a", value == 0 ? 0.0 : value);
    text(name, digits);
  }
  std::string digest() const { return hash_.hex(); }

 private:
  void add(std::string_view bytes) {
    const std::string length = std::to_string(bytes.size()) + ":";
    hash_.update(length.data(), length.size());
    hash_.update(bytes.data(), bytes.size());
  }

  Fnv1a hash_;
};

void add_model(Canonical& out, const Scenario& scenario) {
  for (const std::size_t width : scenario.model.widths) out.whole("model.layers", width);
  out.text("model.activation", scenario.model.activation == Activation::relu ? "RELU" : "TANH");
  out.text("model.loss", scenario.model.loss == Loss::mse ? "MSE" : "CROSS_ENTROPY");
  out.whole("model.seed", scenario.seed);
}

void add_training(Canonical& out, const TrainingOptions& training) {
  out.whole("training.steps", training.steps);
  out.whole("training.global_batch", training.global_batch);
  out.text("training.precision", name(training.precision));
  out.text("training.reduce_precision", name(training.reduce_precision));
  out.number("training.loss_scale", training.loss_scale);
  out.whole("training.micro_batches", training.micro_batches);
  out.whole("training.fp32_gradient_accumulation", training.fp32_gradient_accumulation ? 1 : 0);
  out.number("training.clip_norm", training.clip_norm);
  out.whole("training.activation_checkpointing", training.activation_checkpointing);
  if (training.dynamic_loss_scale.has_value()) {
    const DynamicLossScale& dynamic = *training.dynamic_loss_scale;
    out.number("dynamic_loss_scale.initial", dynamic.initial.value_or(0));
    out.whole("dynamic_loss_scale.growth_interval",
              static_cast<std::uint64_t>(dynamic.growth_interval.value_or(0)));
    out.whole("dynamic_loss_scale.hysteresis",
              static_cast<std::uint64_t>(dynamic.hysteresis.value_or(0)));
    out.number("dynamic_loss_scale.minimum", dynamic.minimum.value_or(-1));
  }
  out.text("training.arithmetic", training.storage == Storage::real ? "REAL" : "NONE");
  const AdamOptions& optimizer = training.optimizer;
  out.text("optimizer.name", optimizer.variant == AdamOptions::Variant::adam ? "ADAM" : "ADAMW");
  out.number("optimizer.learning_rate", optimizer.learning_rate);
  out.number("optimizer.beta1", optimizer.beta1);
  out.number("optimizer.beta2", optimizer.beta2);
  out.number("optimizer.epsilon", optimizer.epsilon);
  out.number("optimizer.weight_decay", optimizer.weight_decay);
}

void add_cluster(Canonical& out, const Scenario& scenario) {
  out.whole("cluster.world_size", static_cast<std::uint64_t>(scenario.world_size));
  const DeviceSpec& device = scenario.device;
  out.whole("device.memory", device.memory_bytes);
  out.number("device.peak_flops", device.peak_flops_per_s);
  out.number("device.memory_bandwidth", device.memory_bandwidth_bytes_per_s);
  out.number("device.compute_efficiency", device.compute_efficiency);
  out.number("device.memory_efficiency", device.memory_efficiency);
  out.number("device.launch_overhead", device.launch_overhead_s);
  out.number("device.communication_slowdown", device.communication_slowdown);
  out.number("link.bandwidth", scenario.link.bandwidth_bytes_per_s);
  out.number("link.latency", scenario.link.latency_s);
  if (scenario.checkpoint.has_value()) {
    out.whole("checkpoint.every_steps",
              static_cast<std::uint64_t>(scenario.checkpoint->every_steps));
    out.number("storage.bandwidth", scenario.checkpoint->bandwidth_bytes_per_s);
  }
}

}  // namespace

std::optional<std::string> file_digest(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  Fnv1a hash;
  char block[1 << 16];
  while (file) {
    file.read(block, sizeof block);
    hash.update(block, static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof()) return std::nullopt;
  return hash.hex();
}

std::string scenario_digest(const Scenario& scenario, const std::string& weights_file_digest,
                            const std::string& data_file_digest) {
  Canonical out;
  out.text("name", scenario.name);
  add_model(out, scenario);
  out.text("model.weights_file", weights_file_digest);
  out.text("data.file", data_file_digest);
  add_training(out, scenario.training);
  add_cluster(out, scenario);
  for (const Strategy& strategy : scenario.strategies) {
    out.text("strategies", strategy.name);
    for (const auto& [option, value] : options_of(strategy, scenario.world_size)) {
      out.text("options." + option, value);
    }
  }
  return out.digest();
}

}  // namespace shardscope
