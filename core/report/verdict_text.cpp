#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/report/text_table.h"
#include "core/report/verdict.h"

namespace vsim::core {
namespace {

constexpr std::size_t kMostContributors = 10, kMostKernels = 12;
constexpr double kLeastShare = 0.0005;  // of the step: smaller contributors are summed up

std::string time(double seconds) {
  return seconds > 0 ? formatTime(picosecondsFromSeconds(seconds)) : std::string("0");
}
std::string signedTime(double seconds) {
  if (std::abs(seconds) < 0.5e-12) return "0";
  return (seconds < 0 ? "-" : "+") + formatTime(picosecondsFromSeconds(std::abs(seconds)));
}
std::string signedPercent(double fraction) {
  const double rounded = std::round(fraction * 1000) / 10;
  return fmt::format("{:+.1f} %", rounded == 0 ? 0.0 : rounded);
}
std::string errorText(const VerdictFigure& figure) {
  if (figure.measured == 0 && figure.predicted == 0) return "";
  return figure.error() ? signedPercent(*figure.error()) : std::string("-");
}
std::string bytes(double value) { return formatBytes(static_cast<Bytes>(value)); }

void addTime(TextTable& table, const std::string& label, const VerdictFigure& figure) {
  table.add({label, time(figure.measured), time(figure.predicted), errorText(figure)});
}

std::string summaryTable(const Verdict& v) {
  TextTable table;
  table.add({"", "measured", "predicted", "error"});
  addTime(table, "step time", v.stepSeconds);
  addTime(table, "  compute", v.computeSeconds);
  addTime(table, "  exposed communication", v.exposedSeconds);
  addTime(table, "  copies alone", v.copySeconds);
  addTime(table, "  host-bound", v.hostBoundSeconds);
  addTime(table, "  waits", v.waitSeconds);
  addTime(table, "communication, all", v.commSeconds);
  table.addGap();
  for (const VerdictPhase& row : v.phases)
    addTime(table, std::string(kPhaseNames[static_cast<std::size_t>(row.phase)]), row.seconds);
  table.addGap();
  const auto addBytes = [&](const char* label, const VerdictFigure& figure) {
    table.add({label, bytes(figure.measured), bytes(figure.predicted), errorText(figure)});
  };
  addBytes("peak allocated", v.peakAllocated);
  addBytes("peak reserved", v.peakReserved);
  return table.text();
}

std::string count(double value) {
  return std::abs(value - std::round(value)) < 1e-9 ? formatCount(std::llround(value))
                                                    : fmt::format("{:.1f}", value);
}

std::string collectiveTable(const Verdict& v) {
  TextTable table;
  table.add({"collectives of a step", "group", "ranks", "count", "measured", "each", "predicted", "error"});
  for (const VerdictClass& row : v.collectives)
    table.add({"  " + row.name, row.group, formatCount(row.groupSize), count(row.count),
               time(row.seconds.measured), time(row.seconds.measured / row.count),
               time(row.seconds.predicted), errorText(row.seconds)});
  return table.text();
}

std::string kernelTable(const Verdict& v) {
  TextTable table;
  table.add({"kernels of a step", "count", "measured", "each", "predicted", "error"});
  const std::size_t shown = std::min(v.kernels.size(), kMostKernels);
  for (std::size_t i = 0; i < shown; ++i) {
    const VerdictClass& row = v.kernels[i];
    table.add({"  " + row.name, count(row.count), time(row.seconds.measured),
               time(row.seconds.measured / row.count), time(row.seconds.predicted), errorText(row.seconds)});
  }
  if (v.kernels.size() > shown) {
    VerdictFigure rest;
    double launches = 0;
    for (std::size_t i = shown; i < v.kernels.size(); ++i) {
      launches += v.kernels[i].count;
      rest.measured += v.kernels[i].seconds.measured;
      rest.predicted += v.kernels[i].seconds.predicted;
    }
    table.add({fmt::format("  {} others", v.kernels.size() - shown), count(launches), time(rest.measured), "",
               time(rest.predicted), errorText(rest)});
  }
  return table.text();
}

std::string partName(const VerdictPart& part) {
  switch (part.kind) {
    case PartKind::exposed:
      return part.name + ", exposed";
    case PartKind::copy:
      return part.name + ", alone on its stream";
    case PartKind::launch:
      return "launch: the host is behind";
    case PartKind::wait:
      return "waits of the streams";
    case PartKind::kernel:
      break;
  }
  return part.name;
}

std::string contributorTable(const Verdict& v) {
  const double step = v.stepSeconds.measured;
  TextTable table;
  table.add({"what makes the error", "measured", "predicted", "difference", "of the step"});
  const auto add = [&](const std::string& label, const VerdictFigure& figure) {
    table.add({"  " + label, time(figure.measured), time(figure.predicted), signedTime(figure.difference()),
               signedPercent(step > 0 ? figure.difference() / step : 0)});
  };
  VerdictFigure rest;
  std::size_t shown = 0;
  for (const VerdictPart& part : v.contributors) {
    if (shown < kMostContributors && std::abs(part.seconds.difference()) >= kLeastShare * step) {
      add(partName(part), part.seconds);
      ++shown;
      continue;
    }
    rest.measured += part.seconds.measured;
    rest.predicted += part.seconds.predicted;
  }
  if (shown < v.contributors.size()) add(fmt::format("{} others", v.contributors.size() - shown), rest);
  add("together: the step", v.stepSeconds);
  return table.text();
}

}  // namespace

std::string toText(const Verdict& v) {
  std::string text =
      fmt::format("{}{}{}: {} {} on {}, median of {} steps after {} of warm-up", v.scenario,
                  v.scenario.empty() ? "" : ", ", v.system, v.ranks, v.ranks == 1 ? "rank" : "ranks",
                  v.executor, v.measuredSteps.size(), v.warmup);
  text += fmt::format(" (half of them between {} and {})\n\n", time(v.quartileLow), time(v.quartileHigh));
  text += summaryTable(v) + "\n";
  if (!v.collectives.empty()) text += collectiveTable(v) + "\n";
  if (!v.kernels.empty()) text += kernelTable(v) + "\n";
  text += contributorTable(v) + "\n";
  text += fmt::format("{}: predicted {}, measured {}: {}.\n", v.system, time(v.stepSeconds.predicted),
                      time(v.stepSeconds.measured), errorText(v.stepSeconds));
  return text;
}

}  // namespace vsim::core
