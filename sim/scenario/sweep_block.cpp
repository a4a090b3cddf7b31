#include "sim/scenario/sweep_block.h"

#include <map>
#include <utility>

#include "scenarios/scenario.pb.h"
#include "sim/scenario/message_text.h"

namespace shardscope {
namespace {

// Reads the axes in turn, counting how often each field has been given, since that is how its place
// is found.
class AxisReader {
 public:
  explicit AxisReader(const MessageText& text) : text_(text) {}

  AxisText read(const schema::Axis& axis) {
    AxisText read;
    read.field = value("sweep.axis.field", axis.has_field(), axis.field());
    read.values = value("sweep.axis.values", axis.has_values(), axis.values());
    read.from = value("sweep.axis.from", axis.has_from(), axis.from());
    read.to = value("sweep.axis.to", axis.has_to(), axis.to());
    read.points = value("sweep.axis.points", axis.has_points(), std::to_string(axis.points()));
    read.scale =
        value("sweep.axis.scale", axis.has_scale(), schema::Axis::Scale_Name(axis.scale()));
    for (const auto* given : {&read.field, &read.values, &read.from, &read.to}) {
      if (read.place.empty() && given->has_value()) read.place = (*given)->place;
    }
    if (read.place.empty()) read.place = text_.place("sweep", 0);
    return read;
  }

 private:
  std::optional<PlacedText> value(const char* path, bool given, std::string text) {
    if (!given) return std::nullopt;
    return PlacedText{std::move(text), text_.place(path, given_[path]++)};
  }

  const MessageText& text_;
  std::map<std::string, int> given_;
};

}  // namespace

std::vector<AxisText> parse_sweep_block(const ScenarioFile& file,
                                        const std::vector<Override>& overrides) {
  schema::Scenario message;
  const MessageText text(file.path, file.contents, overrides, message);
  AxisReader reader(text);
  std::vector<AxisText> axes;
  axes.reserve(static_cast<std::size_t>(message.sweep().axis_size()));
  for (const schema::Axis& axis : message.sweep().axis()) axes.push_back(reader.read(axis));
  return axes;
}

}  // namespace shardscope
