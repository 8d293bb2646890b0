#include "core/profile/quantity.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace vsim::core {
namespace {

/// A number as written, and the unit after it: "43.71", "ms".
struct Parts {
  std::string_view digits;
  double number = 0;
  std::string_view unit;

  /// The number times ten to the power of `exponent`, rounded once: 0.8 us is the double nearest to 0.8e-6.
  [[nodiscard]] double shifted(int exponent) const {
    if (exponent == 0) return number;
    if (digits.find_first_of("eE") != std::string_view::npos) return number * std::pow(10.0, exponent);
    const std::string text = fmt::format("{}e{}", digits, exponent);
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
};

bool split(std::string_view text, Parts& parts) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parts.number);
  if (error != std::errc() || !std::isfinite(parts.number)) return false;
  parts.digits = text.substr(0, static_cast<std::size_t>(end - text.data()));
  parts.unit = text.substr(parts.digits.size());
  while (!parts.unit.empty() && parts.unit.front() == ' ') parts.unit.remove_prefix(1);
  return true;
}

/// The number times the prefix ("k", "M", "Gi", ...) that it takes off the front of the unit.
double takePrefix(Parts& parts) {
  constexpr std::string_view letters = "kMGTP";
  std::string_view& unit = parts.unit;
  if (unit.empty()) return parts.number;
  const char first = unit.front() == 'K' ? 'k' : unit.front();
  const std::size_t place = letters.find(first);
  if (place == std::string_view::npos) return parts.number;
  unit.remove_prefix(1);
  const int power = static_cast<int>(place) + 1;
  if (unit.empty() || unit.front() != 'i') return parts.shifted(3 * power);
  unit.remove_prefix(1);
  return parts.number * std::pow(1024.0, power);
}

}  // namespace

std::optional<double> secondsFromText(std::string_view text) {
  Parts parts;
  if (!split(text, parts)) return std::nullopt;
  if (parts.unit == "s") return parts.number;
  if (parts.unit == "ms") return parts.shifted(-3);
  if (parts.unit == "us") return parts.shifted(-6);
  if (parts.unit == "ns") return parts.shifted(-9);
  return std::nullopt;
}

std::optional<double> bytesPerSecondFromText(std::string_view text) {
  Parts parts;
  if (!split(text, parts)) return std::nullopt;
  const double number = takePrefix(parts);
  if (parts.unit == "B/s") return number;
  if (parts.unit == "b/s") return number / 8;
  return std::nullopt;
}

std::optional<double> flopsPerSecondFromText(std::string_view text) {
  Parts parts;
  if (!split(text, parts)) return std::nullopt;
  const double number = takePrefix(parts);
  if (parts.unit == "FLOP/s" || parts.unit == "FLOPS") return number;
  return std::nullopt;
}

std::optional<double> hertzFromText(std::string_view text) {
  Parts parts;
  if (!split(text, parts)) return std::nullopt;
  const double number = takePrefix(parts);
  if (parts.unit == "Hz") return number;
  return std::nullopt;
}

std::optional<double> wattsFromText(std::string_view text) {
  Parts parts;
  if (!split(text, parts) || parts.unit != "W") return std::nullopt;
  return parts.number;
}

std::optional<double> bytesFromText(std::string_view text) {
  Parts parts;
  if (!split(text, parts)) return std::nullopt;
  const double bytes = takePrefix(parts);
  if (!parts.unit.empty() && parts.unit != "B") return std::nullopt;
  if (std::abs(bytes) > 4.6e18) return std::nullopt;
  return bytes;
}

namespace {

struct Unit {
  std::string_view name;
  double scale;
};

/// `value` in the largest of `units` (largest first) that leaves at least one whole, with as many digits,
/// four at least, as it takes for `parse` to answer exactly `value`.
template <std::size_t N>
std::string exactText(double value, const std::array<Unit, N>& units,
                      std::optional<double> (*parse)(std::string_view)) {
  std::size_t chosen = 0;
  while (chosen + 1 < N && std::abs(value) < units[chosen].scale) ++chosen;
  const double number = value / units[chosen].scale;
  for (int digits = 4; digits <= 17; ++digits) {
    std::string text = fmt::format("{:.{}g}{}", number, digits, units[chosen].name);
    if (parse(text) == value) return text;
  }
  // Dividing and multiplying again may miss by one bit: a neighbour does it, else the bare unit.
  for (const double towards : {0.0, 2 * number}) {
    std::string text = fmt::format("{}{}", std::nextafter(number, towards), units[chosen].name);
    if (parse(text) == value) return text;
  }
  for (const Unit& unit : units)
    if (unit.scale == 1) return fmt::format("{}{}", value, unit.name);
  return {};
}

}  // namespace

std::string secondsText(double seconds) {
  constexpr std::array<Unit, 4> units{{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
  return exactText(seconds, units, secondsFromText);
}

std::string bytesPerSecondText(double rate) {
  constexpr std::array<Unit, 5> units{
      {{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}, {"B/s", 1}}};
  return exactText(rate, units, bytesPerSecondFromText);
}

std::string flopsPerSecondText(double rate) {
  constexpr std::array<Unit, 3> units{{{"TFLOP/s", 1e12}, {"GFLOP/s", 1e9}, {"FLOP/s", 1}}};
  return exactText(rate, units, flopsPerSecondFromText);
}

std::string hertzText(double hertz) {
  constexpr std::array<Unit, 3> units{{{"GHz", 1e9}, {"MHz", 1e6}, {"Hz", 1}}};
  return exactText(hertz, units, hertzFromText);
}

std::string wattsText(double watts) {
  constexpr std::array<Unit, 1> units{{{"W", 1}}};
  return exactText(watts, units, wattsFromText);
}

}  // namespace vsim::core
