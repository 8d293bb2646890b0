#include "core/profile/quantity.h"

#include <charconv>
#include <cmath>

namespace vsim::core {
namespace {

/// Splits "43.71 ms" into number and unit.
bool split(std::string_view text, double& number, std::string_view& unit) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return false;
  unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  return true;
}

/// Takes "k", "M", "Gi", ... off the front of `unit`.
double prefix(std::string_view& unit) {
  constexpr std::string_view letters = "kMGTP";
  if (unit.empty()) return 1;
  const char first = unit.front() == 'K' ? 'k' : unit.front();
  const std::size_t place = letters.find(first);
  if (place == std::string_view::npos) return 1;
  unit.remove_prefix(1);
  const bool binary = !unit.empty() && unit.front() == 'i';
  if (binary) unit.remove_prefix(1);
  return std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(place + 1));
}

}  // namespace

std::optional<double> secondsFromText(std::string_view text) {
  double number = 0;
  std::string_view unit;
  if (!split(text, number, unit)) return std::nullopt;
  if (unit == "s") return number;
  if (unit == "ms") return number * 1e-3;
  if (unit == "us") return number * 1e-6;
  if (unit == "ns") return number * 1e-9;
  return std::nullopt;
}

std::optional<double> bytesPerSecondFromText(std::string_view text) {
  double number = 0;
  std::string_view unit;
  if (!split(text, number, unit)) return std::nullopt;
  const double scale = prefix(unit);
  if (unit == "B/s") return number * scale;
  if (unit == "b/s") return number * scale / 8;
  return std::nullopt;
}

std::optional<double> bytesFromText(std::string_view text) {
  double number = 0;
  std::string_view unit;
  if (!split(text, number, unit)) return std::nullopt;
  const double bytes = number * prefix(unit);
  if (!unit.empty() && unit != "B") return std::nullopt;
  if (std::abs(bytes) > 4.6e18) return std::nullopt;
  return bytes;
}

}  // namespace vsim::core
