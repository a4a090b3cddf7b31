// What a SimGrid platform's XML says that the loaded platform does not.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "sim/topology_files/notes.h"
#include "sim/topology_files/xml_file.h"

namespace shardscope {

struct SimgridXml {
  std::map<std::string, std::size_t> lines;  ///< Of hosts, links and clusters, by id.
  std::set<std::string> speed_profiles;      ///< Ids of hosts.
  std::set<std::string> host_state_profiles;
  std::set<std::string> bandwidth_profiles;  ///< Ids of links.
  std::set<std::string> latency_profiles;
  std::set<std::string> link_state_profiles;
};

/// Faults: WIFI, and settings in <config> that could do anything else than change a simulation.
SimgridXml read_simgrid_xml(const XmlFile& file, FaultList& faults, TopologyNotes& notes);

}  // namespace shardscope
