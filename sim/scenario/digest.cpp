#include "sim/scenario/digest.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>
#include <type_traits>
#include <utility>

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

void add_transformer(Canonical& out, const TransformerSpec& spec) {
  out.text("transformer.architecture", spec.architecture);
  for (const auto& [name, size] : {std::pair{"vocabulary", spec.vocabulary},
                                   {"hidden", spec.hidden},
                                   {"blocks", spec.blocks},
                                   {"heads", spec.heads},
                                   {"kv_heads", spec.kv_heads},
                                   {"head_dim", spec.head_dim},
                                   {"intermediate", spec.intermediate},
                                   {"positions", spec.positions},
                                   {"sequence", spec.sequence},
                                   {"token_embedding", spec.token_embedding},
                                   {"norms_per_block", spec.norms_per_block}}) {
    out.whole("transformer." + std::string(name), size);
  }
  for (const auto& [name, flag] : {std::pair{"gated_mlp", spec.gated_mlp},
                                   {"qkv_bias", spec.qkv_bias},
                                   {"attention_output_bias", spec.attention_output_bias},
                                   {"mlp_bias", spec.mlp_bias},
                                   {"head_bias", spec.head_bias},
                                   {"rms_norm", spec.norm == Norm::rms_norm},
                                   {"final_norm", spec.final_norm},
                                   {"tied_embeddings", spec.tied_embeddings},
                                   {"fused_attention", spec.fused_attention},
                                   {"dropout", spec.dropout},
                                   {"attention_dropout", spec.attention_dropout},
                                   {"embedding_dropout", spec.embedding_dropout},
                                   {"activation_keeps_input", spec.activation_keeps_input},
                                   {"parallel_residual", spec.parallel_residual}}) {
    out.whole("transformer." + std::string(name), flag ? 1 : 0);
  }
}

void add_model(Canonical& out, const Scenario& scenario) {
  if (scenario.model.transformer.has_value()) add_transformer(out, *scenario.model.transformer);
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

void add_cable(Canonical& out, const std::string& name, const CableSpec& cable) {
  out.number(name + ".bandwidth", cable.bandwidth_bytes_per_s);
  out.number(name + ".latency", cable.latency_s);
}

void add_node(Canonical& out, const NodeSpec& node) {
  out.whole("node.devices", node.devices);
  out.whole("node.nvlink", static_cast<std::uint64_t>(node.nvlink));
  add_cable(out, "node.nvlink", node.nvlink_cable);
  for (const NvlinkPair& pair : node.nvlink_pairs) {
    out.whole("nvlink.a", pair.a);
    out.whole("nvlink.b", pair.b);
    out.whole("nvlink.links", pair.links);
  }
  out.whole("node.devices_per_pcie_switch", node.devices_per_pcie_switch);
  out.whole("node.pcie_switches_per_host", node.pcie_switches_per_host);
  add_cable(out, "node.pcie", node.pcie_cable);
  add_cable(out, "node.socket", node.socket_cable);
  out.whole("node.nics", node.nics);
}

void add_fabric(Canonical& out, const FabricSpec& fabric) {
  out.text("fabric.kind", name(fabric.kind));
  add_cable(out, "link", fabric.cable);
  out.whole("fabric.endpoints_per_leaf", fabric.endpoints_per_leaf);
  out.whole("fabric.spines", fabric.spines);
  out.number("fabric.oversubscription", fabric.oversubscription);
  out.whole("fabric.k", fabric.k);
  for (const std::size_t length : fabric.lengths) out.whole("fabric.lengths", length);
}

void add_unevenness(Canonical& out, const Cluster& cluster) {
  for (const RankSpeed& rank : cluster.rank_speeds) {
    out.number("rank_speed.speed", rank.speed);
    for (const SpeedChange& change : rank.changes) {
      out.number("rank_speed.change.at", change.at_s);
      out.number("rank_speed.change.speed", change.speed);
    }
  }
  for (const LinkChange& link : cluster.link_changes) {
    out.text("link_change.links", link.links);
    out.number("link_change.bandwidth", link.bandwidth_bytes_per_s.value_or(-1));
    out.number("link_change.latency", link.latency_s.value_or(-1));
    for (const BandwidthChange& change : link.changes) {
      out.number("link_change.change.at", change.at_s);
      out.number("link_change.change.bandwidth", change.bandwidth_bytes_per_s);
    }
  }
  if (cluster.collective.algorithm != Algorithm::ring || cluster.collective.channels != 1) {
    out.text("collective.algorithm", cluster.collective.algorithm.has_value()
                                         ? name(*cluster.collective.algorithm)
                                         : "AUTO");
    out.whole("collective.channels", static_cast<std::uint64_t>(cluster.collective.channels));
  }
  if (cluster.collective.fidelity != Fidelity::message) {
    out.text("collective.fidelity", name(cluster.collective.fidelity));
  }
  for (const BackgroundFlow& flow : cluster.background) {
    out.text("background.from", flow.from);
    out.text("background.to", flow.to);
    out.whole("background.message", flow.message_bytes);
    out.number("background.every", flow.every_s);
    out.number("background.begin", flow.begin_s);
  }
}

void add_topology(Canonical& out, const Cluster& cluster) {
  if (cluster.file.has_value()) {
    out.text("cluster.file", cluster.file->digest);
    if (cluster.platform.has_value()) {
      for (const std::string& host : cluster.platform->hosts) out.text("cluster.hosts", host);
    }
    out.text("cluster.node.preset", cluster.node_preset);
  }
  if (is_plain_star(cluster.spec)) {
    add_cable(out, "link", cluster.spec.fabric->cable);
  } else {
    if (cluster.spec.node.has_value()) add_node(out, *cluster.spec.node);
    if (cluster.spec.fabric.has_value()) add_fabric(out, *cluster.spec.fabric);
  }
  if (cluster.spec.nodes != cluster.placement.size()) {
    out.whole("cluster.nodes", cluster.spec.nodes);
  }
  for (std::size_t rank = 0; rank < cluster.placement.size(); ++rank) {
    if (cluster.placement[rank] == rank) continue;
    out.whole("placement.rank", rank);
    out.whole("placement.device", cluster.placement[rank]);
  }
  add_unevenness(out, cluster);
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
  if (scenario.training.optimizer_on_host) {
    out.number("host.link_bandwidth", scenario.host.link_bytes_per_s);
    out.number("host.adam_parameters_per_s", scenario.host.adam_parameters_per_s);
  }
  add_topology(out, scenario.cluster);
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
