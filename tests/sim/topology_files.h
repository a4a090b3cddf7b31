// What tests of topology files share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sim/text/fault.h"
#include "sim/topology_files/topology_file.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope::testing {

/// A text read as a file named "f".
struct ReadText {
  TemporaryFolder folder;
  std::vector<Fault> faults;
  std::optional<TopologyFile> file;

  explicit ReadText(std::string_view text) {
    file = read_topology_file(folder.write("f", text), faults);
    EXPECT_NE(file.has_value(), !faults.empty());
  }

  /// One line each, without the folder: "f:3: ...".
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (const Fault& fault : faults) {
      all.push_back(format_fault(fault).substr(folder.path("").size()));
    }
    return all;
  }

  const Link* link(std::string_view name) const {
    const auto& links = file->topology.links();
    const auto found =
        std::find_if(links.begin(), links.end(), [&](const Link& l) { return l.name == name; });
    return found == links.end() ? nullptr : &*found;
  }
};

inline bool contains(const std::vector<std::string>& lines, std::string_view part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) {
    all += line + "\n";
  }
  return all;
}

inline void expect_fault(std::string_view text, std::string_view part) {
  const ReadText read(text);
  EXPECT_TRUE(contains(read.lines(), part)) << "not found: " << part << "\nin:\n"
                                            << joined(read.lines());
}

/// Changes bytes, cuts and repeats pieces.
template <typename Random>
std::string mutated(std::string text, Random& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t i = 0; i < 1 + below(4) && !text.empty(); ++i) {
    const std::size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + below(20));
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), below(40)));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

}  // namespace shardscope::testing
