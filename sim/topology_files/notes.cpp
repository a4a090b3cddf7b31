#include "sim/topology_files/notes.h"

#include "sim/text/printable.h"

namespace shardscope {
namespace {

constexpr std::size_t kMostLines = 50;

}  // namespace

void NameCounts::add(std::string_view what, std::string_view name, std::string_view of) {
  std::string text(what);
  text += " " + quoted(name);
  if (!of.empty()) {
    text += " of " + std::string(of);
  }
  ++counts_[text];
}

void NameCounts::append_to(std::vector<std::string>& lines) const {
  std::size_t shown_lines = 0;
  for (const auto& [text, count] : counts_) {
    if (++shown_lines > kMostLines) {
      lines.push_back(std::to_string(counts_.size() - kMostLines) + " more names");
      return;
    }
    lines.push_back(text + " (" + std::to_string(count) + ")");
  }
}

std::string plural(std::string_view thing) {
  return std::string(thing) + (thing.ends_with("ch") ? "es" : "s");
}

std::string counted(std::size_t count, std::string_view thing) {
  return std::to_string(count) + " " + (count == 1 ? std::string(thing) : plural(thing));
}

}  // namespace shardscope
