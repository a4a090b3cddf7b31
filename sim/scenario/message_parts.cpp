#include "sim/scenario/message_parts.h"

#include <algorithm>

#include "sim/scenario/field_paths.h"

namespace shardscope {
namespace {

// True if the value stands in the part; otherwise `place` is the innermost block that would hold
// it.
bool find_in(const MessageParts& parts, std::size_t index_of_part, std::string_view path, int index,
             ValuePlace& place) {
  const MessagePart& part = parts[index_of_part];
  place = {index_of_part, {0, 0}, {}};
  std::size_t deepest = 0;
  for (std::size_t i = 0; i < part.paths.size(); ++i) {
    const SourceField& field = part.source.fields[i];
    const std::string& given = part.paths[i];
    if (given.empty() || !covers(given, path) || given.size() < deepest) continue;
    deepest = given.size();
    place.position = field.position;
    if (given != path) continue;
    if (field.is_block && index-- == 0) return true;
    if (field.values.empty()) continue;
    const auto values = static_cast<int>(field.values.size());
    if (index < values) {
      const SourceValue& value = field.values[static_cast<std::size_t>(index)];
      place.position = value.position;
      place.value = value.text;
      return true;
    }
    index -= values;
  }
  return false;
}

}  // namespace

bool is_replaced(const MessageParts& parts, std::string_view path) {
  return std::any_of(parts.begin() + 1, parts.end(), [&](const MessagePart& part) {
    return !part.path.empty() && covers(part.path, path);
  });
}

ValuePlace find_value(const MessageParts& parts, std::string_view path, int index) {
  ValuePlace place;
  for (std::size_t part = parts.size(); part-- > 0;) {
    const bool responsible =
        part == kFilePart || (!parts[part].path.empty() && covers(parts[part].path, path));
    if (!responsible) continue;
    if (find_in(parts, part, path, index, place)) return place;
    if (part != kFilePart) break;
  }
  return place;
}

std::string format_place(const MessagePart& part, Position position) {
  if (part.is_argument || position.line == 0) return part.name;
  return part.name + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
}

}  // namespace shardscope
