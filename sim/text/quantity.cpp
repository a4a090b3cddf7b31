#include "sim/text/quantity.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <vector>

#include "sim/text/fault.h"
#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

// A value in base units is number * numerator / denominator. Keeping both exact makes "5us" the
// double 5e-6, which 5 * 1e-6 is not.
struct Unit {
  std::string name;
  long double numerator;
  long double denominator;
};

// Values outside [least, most] are no hardware's, and make times that the simulation could not tell
// apart or end. Zero is the caller's to judge, and so are sizes.
struct UnitSystem {
  const char* noun;
  const char* example;
  double least;
  double most;
  const char* range;
  std::vector<Unit> units;
};

void add_prefixed(std::vector<Unit>& units, const std::string& base, long double denominator) {
  units.push_back({base, 1, denominator});
  long double decimal = 1;
  long double binary = 1;
  for (const char* prefix : {"k", "M", "G", "T", "P", "E"}) {
    decimal *= 1000;
    binary *= 1024;
    const std::string binary_prefix = prefix[0] == 'k' ? "Ki" : std::string(prefix) + "i";
    units.push_back({prefix + base, decimal, denominator});
    units.push_back({binary_prefix + base, binary, denominator});
  }
}

UnitSystem make_system(Dimension dimension) {
  switch (dimension) {
    case Dimension::size: {
      UnitSystem system{"size",       "\"64MiB\"", 0, std::numeric_limits<double>::max(),
                        "1B to 8EiB", {}};
      add_prefixed(system.units, "B", 1);
      return system;
    }
    case Dimension::rate: {
      UnitSystem system{
          "rate", "\"10Gbps\" (bits) or \"12.5GBps\" (bytes)", 1, 1e18, "1Bps to 1EBps", {}};
      add_prefixed(system.units, "bps", 8);
      add_prefixed(system.units, "Bps", 1);
      return system;
    }
    case Dimension::time:
      return {"time",
              "\"5us\"",
              1e-12,
              1e6,
              "1ps to 1000000s",
              {{"s", 1, 1}, {"ms", 1, 1e3L}, {"us", 1, 1e6L}, {"ns", 1, 1e9L}, {"ps", 1, 1e12L}}};
    case Dimension::speed: {
      UnitSystem system{"speed", "\"312Tf\"", 1, 1e18, "1f to 1Ef", {}};
      add_prefixed(system.units, "f", 1);
      return system;
    }
  }
  return {};
}

const UnitSystem& system_of(Dimension dimension) {
  static const UnitSystem systems[] = {make_system(Dimension::size), make_system(Dimension::rate),
                                       make_system(Dimension::time), make_system(Dimension::speed)};
  return systems[static_cast<std::size_t>(dimension)];
}

// Prefers a unit that differs in case only at its first letter ("KB" means "kB", not "KiB").
std::string nearest_unit(const std::string& name, const UnitSystem& system) {
  std::vector<std::string> names;
  for (const Unit& unit : system.units) names.push_back(unit.name);
  for (const std::string& candidate : names) {
    if (candidate.substr(1) == name.substr(1) &&
        std::tolower(candidate[0]) == std::tolower(static_cast<unsigned char>(name[0]))) {
      return candidate;
    }
  }
  return nearest_name(name, names);
}

ParsedQuantity refuse(Dimension dimension, std::string problem) {
  return {std::nullopt, std::move(problem), describe(dimension), {}};
}

ParsedQuantity refuse_range(Dimension dimension) {
  ParsedQuantity result = refuse(dimension, "is out of range");
  result.allowed += std::string(", ") + system_of(dimension).range;
  return result;
}

ParsedQuantity refuse_unit(Dimension dimension, const std::string& name) {
  ParsedQuantity result = refuse(dimension, "has the unknown unit \"" + shown(name) + "\"");
  const UnitSystem& system = system_of(dimension);
  result.nearest_unit = nearest_unit(name, system);
  return result;
}

}  // namespace

ParsedQuantity parse_quantity(Dimension dimension, std::string_view text) {
  if (!text.empty() && text.front() == '-') return refuse(dimension, "is negative");
  long double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument) return refuse(dimension, "is not a quantity");
  if (error == std::errc::result_out_of_range || !std::isfinite(number)) {
    return refuse_range(dimension);
  }
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  if (rest.empty()) return refuse(dimension, "has no unit");

  const UnitSystem& system = system_of(dimension);
  const auto& units = system.units;
  const auto unit =
      std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == rest; });
  if (unit == units.end()) return refuse_unit(dimension, std::string(rest));
  const auto value = static_cast<double>(number * unit->numerator / unit->denominator);
  if (value > system.most || (number != 0 && value < system.least)) return refuse_range(dimension);
  return {value, {}, {}, {}};
}

std::string describe(Dimension dimension) {
  const UnitSystem& system = system_of(dimension);
  return std::string("a ") + system.noun + " such as " + system.example;
}

std::optional<std::uint64_t> whole_bytes(double size) {
  const double rounded = std::round(size);
  if (!(rounded >= 1) || rounded >= 0x1p63) return std::nullopt;
  return static_cast<std::uint64_t>(rounded);
}

}  // namespace shardscope
