#include "sim/topology_files/nccl_tables.h"

#include <array>
#include <charconv>
#include <string_view>

namespace shardscope {
namespace {

constexpr double kGiga = 1e9;

double intel_bytes_per_s(const CpuModel& cpu) {
  if (cpu.family != 6 || cpu.model < 0x55) {
    return 6 * kGiga;  // Broadwell and before.
  }
  if (cpu.model < 0x8f) {
    return 10 * kGiga;  // Skylake.
  }
  return (cpu.model < 0xcf ? 22 : 40) * kGiga;  // Sapphire and Emerald Rapids.
}

double amd_bytes_per_s(const CpuModel& cpu) {
  if (cpu.family < 0x19) {
    return 16 * kGiga;  // Zen 1 and 2.
  }
  return (cpu.family < 0x1a ? 24 : 32) * kGiga;  // Zen 3 and 4; Zen 5.
}

}  // namespace

std::optional<double> pcie_lane_bytes_per_s(const std::string& speed) {
  double rate = 0;
  const auto [end, error] = std::from_chars(speed.data(), speed.data() + speed.size(), rate);
  const std::string_view rest(end, static_cast<std::size_t>(speed.data() + speed.size() - end));
  if (error != std::errc() || (rest != " GT/s" && rest != " GT/s PCIe")) {
    return std::nullopt;
  }
  struct Generation {
    double rate;
    double data;
    double all;
  };
  constexpr std::array<Generation, 6> kGenerations = {
      {{2.5, 8, 10}, {5, 8, 10}, {8, 128, 130}, {16, 128, 130}, {32, 128, 130}, {64, 236, 256}}};
  for (const Generation& generation : kGenerations) {
    if (rate == generation.rate) {
      return rate * kGiga * generation.data / generation.all / 8;
    }
  }
  return std::nullopt;
}

std::optional<double> nvlink_bytes_per_s(long sm) {
  if (sm < 60) {
    return std::nullopt;
  }
  if (sm < 70) {
    return 18 * kGiga;
  }
  if (sm == 86) {
    return 12 * kGiga;
  }
  if (sm < 90) {
    return 20 * kGiga;
  }
  return (sm < 100 ? 20.6 : 40.1) * kGiga;
}

std::optional<double> socket_bytes_per_s(const CpuModel& cpu) {
  if (cpu.arch == "ppc64") {
    return 32 * kGiga;
  }
  if (cpu.arch == "arm64") {
    return 6 * kGiga;
  }
  if (cpu.arch != "x86_64") {
    return std::nullopt;
  }
  if (cpu.vendor == "GenuineIntel") {
    return intel_bytes_per_s(cpu);
  }
  if (cpu.vendor == "AuthenticAMD") {
    return amd_bytes_per_s(cpu);
  }
  if (cpu.vendor == "CentaurHauls" || cpu.vendor == "  Shanghai  ") {
    return (cpu.family == 7 && cpu.model == 0x5b ? 9 : 6) * kGiga;
  }
  return std::nullopt;
}

}  // namespace shardscope
