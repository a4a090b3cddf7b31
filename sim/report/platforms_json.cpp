#include "sim/report/platforms_json.h"

#include <json/json.h>

namespace shardscope {
namespace {

Json::Value entry_json(const std::string& name, const DevicePreset& device) {
  Json::Value json;
  json["name"] = name;
  json["memory_bytes"] = Json::UInt64{device.memory_bytes};
  json["peak_flops_per_s"]["fp32"] = device.peak_flops_per_s_fp32;
  json["peak_flops_per_s"]["bf16"] = device.peak_flops_per_s_bf16;
  json["peak_flops_per_s"]["fp16"] = device.peak_flops_per_s_fp16;
  json["memory_bandwidth_bytes_per_s"] = device.memory_bandwidth_bytes_per_s;
  json["compute_efficiency"] = device.compute_efficiency;
  json["memory_efficiency"] = device.memory_efficiency;
  json["launch_overhead_s"] = device.launch_overhead_s;
  return json;
}

Json::Value cable_json(const CableSpec& cable) {
  Json::Value json;
  json["bandwidth_bytes_per_s"] = cable.bandwidth_bytes_per_s;
  json["latency_s"] = cable.latency_s;
  return json;
}

Json::Value nvlink_json(const NodeSpec& spec) {
  if (spec.nvlink == NodeSpec::Nvlink::none) {
    return Json::Value::null;
  }
  Json::Value json = cable_json(spec.nvlink_cable);
  if (spec.nvlink == NodeSpec::Nvlink::nvswitch) {
    json["kind"] = "nvswitch";
    return json;
  }
  json["kind"] = "mesh";
  json["pairs"] = Json::Value(Json::arrayValue);
  for (const NvlinkPair& pair : spec.nvlink_pairs) {
    Json::Value item;
    item["a"] = Json::UInt64{pair.a};
    item["b"] = Json::UInt64{pair.b};
    item["links"] = Json::UInt64{pair.links};
    json["pairs"].append(item);
  }
  return json;
}

Json::Value pcie_json(const NodeSpec& spec) {
  if (spec.devices_per_pcie_switch == 0) {
    return Json::Value::null;
  }
  Json::Value json = cable_json(spec.pcie_cable);
  json["devices_per_switch"] = Json::UInt64{spec.devices_per_pcie_switch};
  json["switches_per_host"] = Json::UInt64{spec.pcie_switches_per_host};
  const bool sockets = spec.socket_cable.bandwidth_bytes_per_s > 0;
  json["socket"] = sockets ? cable_json(spec.socket_cable) : Json::Value::null;
  return json;
}

Json::Value entry_json(const std::string& name, const NodePreset& node) {
  Json::Value json;
  json["name"] = name;
  json["device"] = node.device;
  json["devices"] = Json::UInt64{node.spec.devices};
  json["nvlink"] = nvlink_json(node.spec);
  json["pcie"] = pcie_json(node.spec);
  json["nics"] = Json::UInt64{node.spec.nics};
  json["nic_bandwidth_bytes_per_s"] =
      node.spec.nics > 0 ? Json::Value(node.nic_bandwidth_bytes_per_s) : Json::Value::null;
  return json;
}

Json::Value entry_json(const std::string& name, const FabricPreset& fabric) {
  Json::Value json;
  json["name"] = name;
  json["bandwidth_bytes_per_s"] = fabric.bandwidth_bytes_per_s;
  json["latency_s"] = fabric.latency_s;
  return json;
}

template <typename Preset>
Json::Value list_json(const std::vector<PlatformEntry<Preset>>& entries) {
  Json::Value list(Json::arrayValue);
  for (const PlatformEntry<Preset>& entry : entries) {
    list.append(entry_json(entry.name, entry.preset));
  }
  return list;
}

}  // namespace

std::string platforms_json(const Platforms& platforms, std::string_view version) {
  Json::Value root;
  root["shardscope"] = std::string(version);
  root["devices"] = list_json(platforms.devices);
  root["nodes"] = list_json(platforms.nodes);
  root["fabrics"] = list_json(platforms.fabrics);
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "  ";
  builder["precision"] = 15;  // As many as the files' figures have at most: 0.7 stays 0.7.
  return Json::writeString(builder, root) + "\n";
}

}  // namespace shardscope
