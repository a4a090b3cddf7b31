#include "sim/explain/number_text.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "sim/report/format.h"

namespace shardscope {
namespace {

// "-1e-05" without the zero of the exponent and its plus.
std::string with_exponent(double value, int digits) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.*e", digits - 1, value);
  const std::string number(text.data());
  const std::size_t e = number.find('e');
  std::string mantissa = number.substr(0, e);
  if (digits > 1) {
    mantissa.erase(mantissa.find_last_not_of('0') + 1);
    mantissa.erase(mantissa.find_last_not_of('.') + 1);
  }
  return mantissa + "e" + std::to_string(std::stoi(number.substr(e + 1)));
}

}  // namespace

std::string element_text(float value) {
  const double magnitude = std::abs(static_cast<double>(value));
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  if (magnitude == 0) {
    return "0";
  }
  if (magnitude < 0.0009995 || magnitude >= 9999.5) {
    return with_exponent(value, 1);
  }
  int decimals = 3;
  for (double most = 9.9995; magnitude >= most && decimals > 0; most = most * 10) {
    --decimals;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, static_cast<double>(value));
  return text.data();
}

std::string number_text(double value) {
  constexpr int kDigits = 6;
  if (value == 0 || (std::abs(value) >= 1e-3 && std::abs(value) < 1e6)) {
    return trimmed_significant(value, kDigits, 8);
  }
  return with_exponent(value, kDigits);
}

}  // namespace shardscope
