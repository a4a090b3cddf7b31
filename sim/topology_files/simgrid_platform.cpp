#include "sim/topology_files/simgrid_platform.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>

#include "sim/text/file_text.h"
#include "sim/text/printable.h"
#include "sim/topology_files/child.pb.h"
#include "sim/topology_files/natural_order.h"
#include "sim/topology_files/simgrid_loader.h"
#include "sim/topology_files/simgrid_xml.h"

namespace shardscope {
namespace {

constexpr std::size_t kMostAllPairs = 512;
constexpr const char* kOwnLoopback = "__loopback__";

bool is_positive(double value) { return std::isfinite(value) && value > 0; }

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

// Of a full-duplex link that SimGrid made two of, the id in the file.
std::string id_of(const std::string& link) {
  for (const std::string_view suffix : {"_UP", "_DOWN"}) {
    if (link.ends_with(suffix)) {
      return link.substr(0, link.size() - suffix.size());
    }
  }
  return link;
}

std::size_t line_of(const SimgridXml& xml, const std::string& name) {
  const auto found = xml.lines.find(name);
  const auto found_id = found == xml.lines.end() ? xml.lines.find(id_of(name)) : found;
  return found_id == xml.lines.end() ? 0 : found_id->second;
}

std::unique_ptr<XmlFile> open_platform(const std::string& path, FaultList& faults) {
  const std::optional<std::string> text = read_topology_text(path, faults);
  if (!text.has_value()) {
    return nullptr;
  }
  std::unique_ptr<XmlFile> xml = XmlFile::parse(*text, faults);
  if (xml != nullptr && std::string_view(xml->root().name()) != "platform") {
    faults.add(xml->line(xml->root()), {}, "is no SimGrid platform",
               "XML whose root is <platform>");
  }
  // It would take such files for programs, whatever is in them.
  for (const std::string_view ending : {".so", ".dylib", ".lua"}) {
    if (path.ends_with(ending)) {
      faults.add(0, {}, "has a name that SimGrid takes for a program's",
                 "a name that ends in .xml");
    }
  }
  return faults.empty() ? std::move(xml) : nullptr;
}

void add_load_fault(const SimgridOutcome& outcome, const SimgridXml& xml, FaultList& faults) {
  if (!outcome.at_route.empty()) {
    faults.add(0, {}, "SimGrid finds no route " + outcome.at_route + ": " + outcome.failure);
    return;
  }
  std::string after;
  std::size_t line = outcome.line;
  if (line == 0 && !outcome.after.empty()) {
    line = line_of(xml, outcome.after);
    after = "here or after " + quoted(outcome.after) + ", ";
  }
  faults.add(line, {}, after + "SimGrid cannot load it: " + outcome.failure);
}

SimgridHost host_of(const LoadedPlatform::Host& loaded, const SimgridXml& xml) {
  SimgridHost host;
  host.name = loaded.name();
  host.speeds_flop_per_s.assign(loaded.speeds().begin(), loaded.speeds().end());
  host.power_state = loaded.pstate();
  host.cores = loaded.cores();
  for (int i = 0; i + 1 < loaded.properties_size(); i += 2) {
    host.properties.emplace_back(loaded.properties(i), loaded.properties(i + 1));
  }
  std::sort(host.properties.begin(), host.properties.end());
  host.speed_profile = xml.speed_profiles.contains(host.name);
  host.state_profile = xml.host_state_profiles.contains(host.name);
  return host;
}

SimgridLink link_of(const LoadedPlatform::Link& loaded, const SimgridXml& xml) {
  SimgridLink link;
  link.name = loaded.name();
  link.bandwidth_bytes_per_s = loaded.bandwidth();
  link.latency_s = loaded.latency();
  link.sharing = loaded.fatpipe()                ? SimgridSharing::fatpipe
                 : id_of(link.name) != link.name ? SimgridSharing::split_duplex
                                                 : SimgridSharing::shared;
  const auto has = [&](const std::set<std::string>& ids) {
    return ids.contains(link.name) || ids.contains(id_of(link.name));
  };
  link.bandwidth_profile = has(xml.bandwidth_profiles);
  link.latency_profile = has(xml.latency_profiles);
  link.state_profile = has(xml.link_state_profiles);
  return link;
}

void check_links(const SimgridPlatform& platform, const SimgridXml& xml, FaultList& faults) {
  for (const SimgridLink& link : platform.links) {
    if (!is_positive(link.bandwidth_bytes_per_s)) {
      faults.add(line_of(xml, link.name), "link " + quoted(link.name) + ", bandwidth",
                 figure(link.bandwidth_bytes_per_s) + " bytes/s is not allowed",
                 "above 0 and finite");
    }
    if (!std::isfinite(link.latency_s) || link.latency_s < 0) {
      faults.add(line_of(xml, link.name), "link " + quoted(link.name) + ", latency",
                 figure(link.latency_s) + " s is not allowed", "0 or more, and finite");
    }
  }
}

void check_hosts(const SimgridPlatform& platform, const SimgridXml& xml, FaultList& faults) {
  if (platform.hosts.empty()) {
    faults.add(0, {}, "has no host", "a platform with hosts or clusters");
  }
  for (const SimgridHost& host : platform.hosts) {
    for (const double speed : host.speeds_flop_per_s) {
      if (!is_positive(speed)) {
        faults.add(line_of(xml, host.name), "host " + quoted(host.name) + ", speed",
                   figure(speed) + " flop/s is not allowed", "above 0 and finite");
      }
    }
  }
}

template <typename Part>
std::size_t count_with(const std::vector<Part>& parts, bool Part::*flag) {
  return static_cast<std::size_t>(
      std::count_if(parts.begin(), parts.end(), [&](const Part& part) { return part.*flag; }));
}

void say_what_was_understood(SimgridPlatform& platform) {
  std::vector<std::string>& lines = platform.notes.understood;
  lines.push_back(counted(platform.hosts.size(), "host") + ", " +
                  quoted(platform.hosts.front().name) + " to " +
                  quoted(platform.hosts.back().name));
  std::array<std::size_t, 3> links{};
  for (const SimgridLink& link : platform.links) {
    ++links[static_cast<std::size_t>(link.sharing)];
  }
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i] > 0) {
      lines.push_back(counted(links[i], "link") + ", " + name(static_cast<SimgridSharing>(i)));
    }
  }
  const auto say_profiles = [&](std::size_t count, const std::string& what) {
    if (count > 0) {
      lines.push_back("profiles of " + what + ": " + std::to_string(count));
    }
  };
  say_profiles(count_with(platform.hosts, &SimgridHost::speed_profile), "a host's speed");
  say_profiles(count_with(platform.hosts, &SimgridHost::state_profile), "a host's state");
  say_profiles(count_with(platform.links, &SimgridLink::bandwidth_profile), "a link's bandwidth");
  say_profiles(count_with(platform.links, &SimgridLink::latency_profile), "a link's latency");
  say_profiles(count_with(platform.links, &SimgridLink::state_profile), "a link's state");
}

template <typename Part>
void sort_by_name(std::vector<Part>& parts) {
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return natural_less(a.name, b.name); });
}

}  // namespace

std::string name(SimgridSharing sharing) {
  constexpr std::array<const char*, 3> kNames = {"SHARED", "FATPIPE", "SPLITDUPLEX"};
  return kNames[static_cast<std::size_t>(sharing)];
}

std::optional<SimgridPlatform> describe_simgrid_platform(const std::string& path,
                                                         std::vector<Fault>& faults) {
  FaultList list(path, faults);
  const std::unique_ptr<XmlFile> file = open_platform(path, list);
  if (file == nullptr) {
    return std::nullopt;
  }
  SimgridPlatform platform;
  platform.path = path;
  const SimgridXml xml = read_simgrid_xml(*file, list, platform.notes);
  if (!list.empty()) {
    return std::nullopt;
  }
  LoadedPlatform loaded;
  const SimgridOutcome outcome = load_in_child({.path = path}, loaded);
  if (!outcome.ok) {
    add_load_fault(outcome, xml, list);
    return std::nullopt;
  }
  for (const LoadedPlatform::Host& host : loaded.hosts()) {
    platform.hosts.push_back(host_of(host, xml));
  }
  for (const LoadedPlatform::Link& link : loaded.links()) {
    if (link.name() != kOwnLoopback) {
      platform.links.push_back(link_of(link, xml));
    }
  }
  sort_by_name(platform.hosts);
  sort_by_name(platform.links);
  check_hosts(platform, xml, list);
  check_links(platform, xml, list);
  if (!list.empty()) {
    return std::nullopt;
  }
  say_what_was_understood(platform);
  for (const std::string& warning : outcome.warnings) {
    platform.notes.understood.push_back("SimGrid warns: " + warning);
  }
  return platform;
}

std::optional<std::vector<SimgridRoute>> platform_routes(const std::string& path,
                                                         const std::vector<std::string>& hosts,
                                                         std::vector<Fault>& faults) {
  FaultList list(path, faults);
  if (hosts.empty()) {
    return std::vector<SimgridRoute>();
  }
  const std::unique_ptr<XmlFile> file = open_platform(path, list);
  if (file == nullptr) {
    return std::nullopt;
  }
  TopologyNotes notes;
  const SimgridXml xml = read_simgrid_xml(*file, list, notes);
  if (!list.empty()) {
    return std::nullopt;
  }
  LoadedPlatform loaded;
  const SimgridOutcome outcome = load_in_child({.path = path,
                                                .routed_hosts = hosts,
                                                .most_kept = kMostRoutedHosts,
                                                .most_all_pairs = kMostAllPairs},
                                               loaded);
  if (!outcome.ok) {
    add_load_fault(outcome, xml, list);
    return std::nullopt;
  }
  if (loaded.unroutable() > 0) {
    list.add(0, {},
             "SimGrid finds no route from " + quoted(hosts[loaded.unroutable_from()]) + " to " +
                 quoted(hosts[loaded.unroutable_to()]) + "; of " + std::to_string(loaded.asked()) +
                 " pairs of hosts, " + std::to_string(loaded.unroutable()) + " have none");
    return std::nullopt;
  }
  std::vector<SimgridRoute> routes;
  for (const LoadedPlatform::Route& route : loaded.routes()) {
    routes.push_back({.from = hosts[route.from()],
                      .to = hosts[route.to()],
                      .links = {route.links().begin(), route.links().end()},
                      .latency_s = route.latency()});
  }
  return routes;
}

}  // namespace shardscope
