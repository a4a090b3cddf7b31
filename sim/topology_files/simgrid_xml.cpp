#include "sim/topology_files/simgrid_xml.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/text/printable.h"
#include "sim/topology_files/simgrid_settings.h"

namespace shardscope {
namespace {

constexpr std::array<std::string_view, 8> kAllowedSettings = {
    "network/", "cpu/", "host/", "surf/", "maxmin/", "contexts/", "smpi/", "storage/"};
constexpr const char* kAllowedSettingsText =
    "those of network, cpu, host, surf, maxmin, contexts, smpi and storage";

// Elements that describe no network. Deployments may be in a file of their own, or in this one.
constexpr std::array<std::string_view, 14> kMeaningless = {
    "prop",    "disk",     "storage", "storage_type", "mount",       "model_prop", "actor",
    "process", "argument", "gpu",     "random",       "trace_event", "include",    "content"};

class Walker : public pugi::xml_tree_walker {
 public:
  Walker(const XmlFile& file, FaultList& faults, TopologyNotes& notes)
      : file_(file), faults_(faults), notes_(notes) {}

  bool for_each(pugi::xml_node& node) override {
    const std::string_view name = node.name();
    if (name == "link" || name == "host" || name == "cluster" || name == "peer" ||
        name == "cabinet") {
      read_part(node, name);
    } else if (name == "trace_connect") {
      connect(node.attribute("kind").value(), node.attribute("element").value());
    } else if (name == "prop" && std::string_view(node.parent().name()) == "config") {
      read_setting(node);
    } else if (std::find(kMeaningless.begin(), kMeaningless.end(), name) != kMeaningless.end()) {
      left_aside_.add("element", name, "<" + shown(node.parent().name()) + ">");
    }
    refuse_wifi(node);
    return true;
  }

  SimgridXml finish() {
    if (file_.names_dtd()) {
      left_aside_.add("the external DTD (not fetched)", 1);
    }
    left_aside_.append_to(notes_.left_aside);
    return std::move(xml_);
  }

 private:
  void read_part(pugi::xml_node node, std::string_view name) {
    const std::string id = node.attribute("id").value();
    xml_.lines.emplace(id, file_.line(node));
    const auto has = [&](const char* attribute) { return !node.attribute(attribute).empty(); };
    if (name == "link") {
      if (has("bandwidth_file")) xml_.bandwidth_profiles.insert(id);
      if (has("latency_file")) xml_.latency_profiles.insert(id);
      if (has("state_file")) xml_.link_state_profiles.insert(id);
    } else {
      if (has("availability_file") || has("speed_file")) xml_.speed_profiles.insert(id);
      if (has("state_file")) xml_.host_state_profiles.insert(id);
    }
  }

  void connect(std::string_view kind, const std::string& element) {
    if (kind == "SPEED") xml_.speed_profiles.insert(element);
    if (kind == "HOST_AVAIL") xml_.host_state_profiles.insert(element);
    if (kind == "BANDWIDTH") xml_.bandwidth_profiles.insert(element);
    if (kind == "LATENCY") xml_.latency_profiles.insert(element);
    if (kind == "LINK_AVAIL") xml_.link_state_profiles.insert(element);
  }

  void read_setting(pugi::xml_node prop) {
    const std::string id = prop.attribute("id").value();
    const auto settings = simgrid_settings();
    if (std::any_of(settings.begin(), settings.end(),
                    [&](const auto& setting) { return setting.first == id; })) {
      left_aside_.add("setting", id, "<config>, which is overridden");
    } else if (std::any_of(kAllowedSettings.begin(), kAllowedSettings.end(),
                           [&](std::string_view begin) { return id.starts_with(begin); })) {
      notes_.understood.push_back("setting " + quoted(id) + " of <config>: SimGrid applies it, " +
                                  quoted(prop.attribute("value").value()));
    } else {
      faults_.add(file_.line(prop), "config, " + quoted(id), "is not allowed",
                  kAllowedSettingsText);
    }
  }

  void refuse_wifi(pugi::xml_node node) {
    for (const char* attribute : {"sharing_policy", "routing", "bb_sharing_policy"}) {
      const std::string_view value = node.attribute(attribute).value();
      if (value == "WIFI" || value == "Wifi") {
        faults_.add(
            file_.line(node),
            shown(node.name()) + " " + quoted(node.attribute("id").value()) + ", " + attribute,
            "WIFI is not simulated", "SHARED, FATPIPE or SPLITDUPLEX");
      }
    }
  }

  const XmlFile& file_;
  FaultList& faults_;
  TopologyNotes& notes_;
  NameCounts left_aside_;
  SimgridXml xml_;
};

}  // namespace

SimgridXml read_simgrid_xml(const XmlFile& file, FaultList& faults, TopologyNotes& notes) {
  Walker walker(file, faults, notes);
  file.walk(walker);
  return walker.finish();
}

}  // namespace shardscope
