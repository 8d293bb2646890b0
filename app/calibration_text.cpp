#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "app/calibrate.h"
#include "app/duration.h"
#include "core/report/text_table.h"

namespace vsim::app {
namespace {

using namespace core;

double busFactor(CollectiveKind kind, std::int64_t ranks) {
  const double share = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  return kind == CollectiveKind::allReduce ? 2 * share : kind == CollectiveKind::broadcast ? 1 : share;
}

std::string groupText(const ProfiledCollective& point) {
  std::string text = fmt::format("{} ranks", point.ranks);
  if (point.nodes() > 1)
    text += fmt::format(", {} a node", point.ranksPerNode);
  else if (point.stride > 1)
    text += ", in a node";
  if (point.stride > 1) text += fmt::format(", stride {}", point.stride);
  if (!point.aligned) text += ", misaligned";
  return text;
}

/// nccl-tests' columns: bytes, elements, type, microseconds, GB/s (1e9) of the algorithm and of the bus.
std::string collectiveTable(const Profile& profile) {
  if (profile.collectives.empty()) return {};
  TextTable table;
  table.add({"collectives", "group", "size(B)", "count", "type", "time(us)", "algbw(GB/s)", "busbw(GB/s)"});
  std::vector<ProfiledCollective> points = profile.collectives;
  const auto order = [](const ProfiledCollective& p) {
    return std::tuple(p.kind, p.ranks, p.ranksPerNode, p.stride, !p.aligned, p.bytes);
  };
  std::stable_sort(points.begin(), points.end(),
                   [&](const auto& a, const auto& b) { return order(a) < order(b); });
  for (const ProfiledCollective& p : points) {
    if (p.seconds <= 0) continue;
    const double rate = static_cast<double>(p.bytes) / p.seconds * 1e-9;
    table.add({"  " + std::string(kCollectiveNames[static_cast<std::size_t>(p.kind)]), groupText(p),
               std::to_string(p.bytes), p.dtype ? std::to_string(p.bytes / bytesOf(*p.dtype)) : "-",
               p.dtype ? std::string(name(*p.dtype)) : "-", fmt::format("{:.1f}", p.seconds * 1e6),
               fmt::format("{:.2f}", rate), fmt::format("{:.2f}", rate * busFactor(p.kind, p.ranks))});
  }
  return table.text() + "\n";
}

struct Rates {
  std::vector<double> values;
  std::string best;  // which point
  void add(double value, const std::string& what) {
    if (values.empty() || value > *std::max_element(values.begin(), values.end())) best = what;
    values.push_back(value);
  }
  [[nodiscard]] double typical() const {
    std::vector<double> sorted = values;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2),
                     sorted.end());
    return sorted[sorted.size() / 2];
  }
  [[nodiscard]] double most() const { return *std::max_element(values.begin(), values.end()); }
};

std::string kernelTable(const Profile& profile) {
  std::map<std::string, Rates> products, memory;
  std::size_t attention = 0;
  for (const ProfiledOperation& p : profile.operations) {
    if (p.seconds <= 0) continue;
    const std::string type = p.dtype ? std::string(name(*p.dtype)) : "any";
    const OpKind kind = kindOf(p);
    if (kind == OpKind::attentionForward || kind == OpKind::attentionBackward) ++attention;
    if ((kind == OpKind::gemm || kind == OpKind::groupedGemm) && p.m > 0 && p.n > 0 && p.k > 0)
      products[fmt::format("{}, {}", kind == OpKind::gemm ? "products" : "grouped products", type)].add(
          2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) / p.seconds *
              1e-12,
          fmt::format("{} x {} x {}", p.m, p.n, p.k));
    if (kind == OpKind::memory && p.bytes > 0)
      memory["memory-bound, " + type].add(static_cast<double>(p.bytes) / p.seconds * 1e-9,
                                          fmt::format("{}, {}", p.name, formatBytes(p.bytes)));
  }
  if (products.empty() && memory.empty() && attention == 0) return {};
  TextTable table;
  table.add({"kernels", "points", "best", "typical", "unit", "the best"});
  for (const auto& [name, rates] : products)
    table.add({"  " + name, std::to_string(rates.values.size()), fmt::format("{:.3g}", rates.most()),
               fmt::format("{:.3g}", rates.typical()), "TFLOP/s", rates.best});
  for (const auto& [name, rates] : memory)
    table.add({"  " + name, std::to_string(rates.values.size()), fmt::format("{:.3g}", rates.most()),
               fmt::format("{:.3g}", rates.typical()), "GB/s", rates.best});
  if (attention > 0) table.add({"  attention", std::to_string(attention), "-", "-", "", ""});
  return table.text() + "\n";
}

std::string hostTable(const Profile& profile) {
  if (!profile.host) return {};
  TextTable table;
  const auto add = [&](const char* label, double seconds) {
    table.add({label, seconds > 0 ? formatTime(picosecondsFromSeconds(seconds)) : "not measured"});
  };
  table.add({"host", "time"});
  add("  one launch", profile.host->launch);
  add("  one event, wait or cached allocation", profile.host->call);
  add("  one allocation from the driver", profile.host->driverAllocate);
  return table.text() + "\n";
}

std::string levels(const std::vector<Locality>& list) {
  std::vector<std::string> names;
  for (const Locality level : list) names.emplace_back(kLocalityNames[static_cast<std::size_t>(level)]);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string hardwareText(const ProfiledHardware& hardware, std::int64_t ranks) {
  std::string text = fmt::format("{} {} of {} ({} executor)", ranks, ranks == 1 ? "rank" : "ranks",
                                 hardware.device, hardware.executor);
  for (const auto& [name, version] : hardware.versions) text += fmt::format(", {} {}", name, version);
  return text + "\n";
}

/// "processors at 1.755 GHz of 1.98 GHz (at least 1.2 GHz), memory at 3.201 GHz, 612 W (at most 701 W), 67
/// C"; empty: nothing is known.
std::string clocksText(const ProfiledClocks& clocks) {
  std::vector<std::string> parts;
  const auto gigahertz = [](double hertz) { return fmt::format("{:.4g} GHz", hertz * 1e-9); };
  if (clocks.processorHertz > 0) {
    std::string text = "processors at " + gigahertz(clocks.processorHertz);
    if (clocks.ratedHertz > 0) text += " of " + gigahertz(clocks.ratedHertz);
    if (clocks.lowestHertz > 0) text += fmt::format(" (at least {})", gigahertz(clocks.lowestHertz));
    parts.push_back(std::move(text));
  } else if (clocks.ratedHertz > 0) {
    parts.push_back("processors made for " + gigahertz(clocks.ratedHertz));
  }
  if (clocks.memoryHertz > 0) parts.push_back("memory at " + gigahertz(clocks.memoryHertz));
  if (clocks.powerWatts > 0)
    parts.push_back(fmt::format("{:.0f} W (at most {:.0f} W)", clocks.powerWatts, clocks.highestPowerWatts));
  if (clocks.celsius > 0) parts.push_back(fmt::format("{:.0f} C", clocks.celsius));
  return parts.empty() ? "" : fmt::format("clocks: {}\n", fmt::join(parts, ", "));
}

}  // namespace

std::string calibrationText(const gpu::Calibration& calibration) {
  const Profile& profile = calibration.profile;
  std::string text;
  if (profile.hardware) text += hardwareText(*profile.hardware, profile.gpus);
  text += fmt::format("{} of {} measurements in {}\n\n", calibration.measured, calibration.planned,
                      durationText(calibration.seconds));
  text += collectiveTable(profile) + kernelTable(profile) + hostTable(profile);
  if (profile.hardware) {
    text += fmt::format("levels that collectives crossed: {}; missing: {}\n",
                        levels(profile.hardware->measured), levels(profile.hardware->missing));
    text += clocksText(profile.hardware->clocks);
    if (!profile.hardware->remark.empty()) text += profile.hardware->remark + "\n";
  }
  for (const std::string& note : calibration.notes) text += note + "\n";
  return text;
}

}  // namespace vsim::app
