#include "gui/model/figure_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/units.h"

namespace vsim::gui {

std::string timeText(double seconds) {
  return seconds > 0 ? core::formatTime(core::picosecondsFromSeconds(seconds)) : std::string("0");
}

std::string percentText(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }

std::string rateText(double perSecond) {
  if (perSecond >= 1e9) return fmt::format("{:.3f} G", perSecond * 1e-9);
  if (perSecond >= 1e6) return fmt::format("{:.3f} M", perSecond * 1e-6);
  if (perSecond >= 1e5) return core::formatCount(std::llround(perSecond));
  if (perSecond >= 1e3) {
    const long long tenths = std::llround(perSecond * 10);
    return fmt::format("{}.{}", core::formatCount(tenths / 10), tenths % 10);
  }
  return fmt::format("{:.2f}", perSecond);
}

std::string bandwidthText(double bytesPerSecond) { return fmt::format("{:.1f} GB/s", bytesPerSecond * 1e-9); }

std::string largeBandwidthText(double bytesPerSecond) {
  return bytesPerSecond < 1e12 ? bandwidthText(bytesPerSecond)
                               : fmt::format("{:.1f} TB/s", bytesPerSecond * 1e-12);
}

std::string signedTimeText(double seconds) {
  if (std::abs(seconds) < 0.5e-12) return "0";
  return (seconds < 0 ? "-" : "+") + core::formatTime(core::picosecondsFromSeconds(std::abs(seconds)));
}

std::string signedBytesText(double bytes) {
  const core::Bytes whole = std::llround(bytes);
  if (whole == 0) return "0";
  return (whole < 0 ? "-" : "+") + core::formatBytes(std::abs(whole));
}

std::string signedPercentText(double fraction) {
  const double rounded = std::round(fraction * 1000) / 10;
  return fmt::format("{:+.1f} %", rounded == 0 ? 0.0 : rounded);
}

std::string categoryText(core::MemoryCategory category) {
  if (category == core::MemoryCategory::ncclContext) return "NCCL and context";
  if (category == core::MemoryCategory::logitsLoss) return "logits and loss";
  std::string text(core::kMemoryCategoryNames[static_cast<std::size_t>(category)]);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string pointText(const core::RunReport& report) {
  std::string text;
  for (const auto& [key, value] : report.facts.overrides)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  return text;
}

std::string plainNumber(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }

}  // namespace vsim::gui
