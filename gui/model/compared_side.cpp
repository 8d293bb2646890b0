#include "gui/model/compared_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/load.h"
#include "gui/model/figure_text.h"

namespace vsim::gui {
namespace {

bool isMeasured(const OpenedRun& run, std::size_t report) {
  const auto* log = report < run.logs.size() ? run.logs[report].get() : nullptr;
  return log != nullptr && log->executor != "simulator";
}

/// "fsdp2" of "fsdp2 (measured)" and of "fsdp2 (predicted)", as real runs call their reports.
std::string_view systemOf(const core::RunReport& report) {
  const std::string_view name = report.facts.system;
  for (const std::string_view suffix : {" (measured)", " (predicted)"})
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  return name;
}

std::string titleOf(const OpenedRun& run, std::size_t report, bool measured) {
  const core::RunReport& figures = run.reports[report];
  std::string title = run.title + ": " + figures.facts.system;
  if (const std::string point = pointText(figures); !point.empty()) title += ", " + point;
  if (measured && title.find("measured") == std::string::npos) title += ", measured";
  return title;
}

bool sameRun(const ComparedSide& a, const ComparedSide& b) { return a.run == b.run; }

/// The side of another run that is most like `first`.
std::size_t likest(std::span<const ComparedSide> sides, std::size_t begin, std::size_t end,
                   const ComparedSide& first) {
  const auto likeness = [&](const ComparedSide& side) {
    const auto &a = side.figures().facts, &b = first.figures().facts;
    return 2 * int{a.system == b.system} + 2 * int{a.overrides == b.overrides} +
           int{side.measured == first.measured};
  };
  std::size_t best = begin;
  for (std::size_t i = begin; i < end; ++i)
    if (likeness(sides[i]) > likeness(sides[best])) best = i;
  return best;
}

}  // namespace

std::vector<ComparedSide> comparableSides(std::span<const std::shared_ptr<const OpenedRun>> runs) {
  std::vector<ComparedSide> sides;
  for (const auto& run : runs) {
    if (!run) continue;
    for (std::size_t i = 0; i < run->reports.size(); ++i) {
      const bool measured = isMeasured(*run, i);
      sides.push_back({.run = run, .report = i, .title = titleOf(*run, i, measured), .measured = measured});
    }
    // Beside a measured report stands its prediction.
    for (ComparedSide& side : sides) {
      if (side.run != run || !side.measured) continue;
      const std::ptrdiff_t prediction = predictionOf(side);
      for (ComparedSide& other : sides)
        if (prediction >= 0 && sameRun(side, other) && other.report == static_cast<std::size_t>(prediction) &&
            other.title.find("predicted") == std::string::npos)
          other.title += ", predicted";
    }
  }
  return sides;
}

std::ptrdiff_t predictionOf(const ComparedSide& measured) {
  if (!measured.measured) return -1;
  for (std::size_t i = measured.report + 1; i < measured.run->reports.size(); ++i)
    if (!isMeasured(*measured.run, i) && systemOf(measured.run->reports[i]) == systemOf(measured.figures()))
      return static_cast<std::ptrdiff_t>(i);
  return -1;
}

std::vector<std::size_t> suggestedSides(std::span<const ComparedSide> sides, int report) {
  std::vector<std::size_t> starts;  // of each run
  for (std::size_t i = 0; i < sides.size(); ++i)
    if (i == 0 || !sameRun(sides[i], sides[i - 1])) starts.push_back(i);
  if (starts.empty()) return {};
  const std::size_t firstEnd = starts.size() > 1 ? starts[1] : sides.size();
  const std::size_t current =
      std::min(starts[0] + static_cast<std::size_t>(std::max(0, report)), firstEnd - 1);
  std::vector<std::size_t> chosen;
  if (starts.size() > 1) {
    chosen.push_back(current);
    for (std::size_t r = 1; r < starts.size() && chosen.size() < kMostSides; ++r)
      chosen.push_back(
          likest(sides, starts[r], r + 1 < starts.size() ? starts[r + 1] : sides.size(), sides[current]));
    return chosen;
  }
  for (std::size_t i = 0; i < sides.size() && chosen.size() < kMostSides; ++i) chosen.push_back(i);
  const std::ptrdiff_t prediction = predictionOf(sides[current]);
  if (prediction >= 0) return {current, static_cast<std::size_t>(prediction)};
  return chosen;
}

int warmupOf(const OpenedRun& run) {
  const std::string option = "--warmup";
  if (const auto at = run.command.find(option); at != std::string::npos) {
    const char* begin = run.command.data() + at + option.size();
    const char* end = run.command.data() + run.command.size();
    while (begin < end && (*begin == ' ' || *begin == '=' || *begin == '\'')) ++begin;
    int steps = 0;
    if (std::from_chars(begin, end, steps).ec == std::errc()) return std::max(0, steps);
  }
  app::RunOptions options{.scenario = run.scenario, .text = run.scenarioText};
  for (std::size_t at = 0; at < run.configuration.size();) {
    const std::size_t end = std::min(run.configuration.find('\n', at), run.configuration.size());
    const std::string line = run.configuration.substr(at, end - at);
    if (const auto equals = line.find('='); equals != std::string::npos)
      options.overrides.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    at = end + 1;
  }
  const auto scenarios = app::loadScenarios(options);
  return scenarios && !scenarios->empty() ? static_cast<int>(scenarios->front().real.warmup) : 0;
}

}  // namespace vsim::gui
