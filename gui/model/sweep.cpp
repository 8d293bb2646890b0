#include "gui/model/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <set>

#include "core/scenario/reader.h"
#include "gui/model/figure_text.h"

namespace vsim::gui {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

struct ResultColumn {
  const char* name;
  bool timed;   // only when a step completed
  bool result;  // false: known before
  double (*value)(const core::RunReport&);
};

using Report = core::RunReport;
constexpr ResultColumn kResults[] = {
    {"GPUs", false, false, [](const Report& r) { return static_cast<double>(r.facts.gpus); }},
    {kStepColumn, true, true, [](const Report& r) { return r.stepSeconds; }},
    {"tokens/s", true, true, [](const Report& r) { return r.tokensPerSecond; }},
    {"tokens/s per GPU", true, true, [](const Report& r) { return r.tokensPerSecondPerGpu; }},
    {"MFU (%)", true, true, [](const Report& r) { return r.mfu * 100; }},
    {"HFU (%)", true, true, [](const Report& r) { return r.hfu * 100; }},
    {"exposed communication (s)", true, true, [](const Report& r) { return r.exposedCommSeconds; }},
    {"exposed (% of step)", true, true,
     [](const Report& r) { return r.exposedCommSeconds / r.stepSeconds * 100; }},
    {"compute (s)", true, true, [](const Report& r) { return r.computeSeconds; }},
    {"waiting (s)", true, true, [](const Report& r) { return r.bubbleSeconds; }},
    {kPeakColumn, false, true, [](const Report& r) { return static_cast<double>(r.peakReserved) / kGiB; }},
    {"peak allocated (GiB)", false, true,
     [](const Report& r) { return static_cast<double>(r.peakAllocated) / kGiB; }},
    {"free memory (GiB)", false, true,
     [](const Report& r) { return static_cast<double>(r.marginBytes) / kGiB; }},
    {"padding (%)", false, true, [](const Report& r) { return r.facts.paddingRatio * 100; }},
    {"standard error (%)", true, true, [](const Report& r) { return r.relativeError.value_or(0) * 100; }},
    {"parameters", false, false, [](const Report& r) { return static_cast<double>(r.facts.parameters); }},
    {"tokens per step", false, false,
     [](const Report& r) { return static_cast<double>(r.facts.tokensPerStep); }},
};

/// As scenarios write numbers: "1024", "0.5", "128M".
std::optional<double> numberIn(const std::string& text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc() && end == text.data() + text.size()) return value;
  const auto count = core::parseCount(text);
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
}

/// Adds a column of words; they become numbers where all of them are.
void addTextColumn(SweepData& data, const std::string& name,
                   const std::function<std::optional<std::string>(std::size_t point)>& textOf) {
  SweepColumn column{.name = name};
  std::vector<std::optional<double>> numbers(data.points.size()), indices(data.points.size());
  for (std::size_t i = 0; i < data.points.size(); ++i) {
    const auto text = textOf(i);
    if (!text) continue;
    numbers[i] = numberIn(*text);
    column.numeric = column.numeric && numbers[i].has_value();
    auto at = std::find(column.names.begin(), column.names.end(), *text);
    if (at == column.names.end()) at = column.names.insert(at, *text);
    indices[i] = static_cast<double>(at - column.names.begin());
  }
  column.varies = column.names.size() > 1;
  if (column.numeric) column.names.clear();
  for (std::size_t i = 0; i < data.points.size(); ++i)
    data.points[i].values.push_back(column.numeric ? numbers[i] : indices[i]);
  data.columns.push_back(std::move(column));
}

void addResults(SweepData& data, const std::vector<const Report*>& reports) {
  for (const ResultColumn& from : kResults) {
    SweepColumn column{.name = from.name, .result = from.result};
    std::optional<double> first;
    for (std::size_t i = 0; i < reports.size(); ++i) {
      std::optional<double> value;
      if (!from.timed || reports[i]->completed) value = from.value(*reports[i]);
      if (value && !first) first = value;
      column.varies = column.varies || (value && *value != *first);
      data.points[i].values.push_back(value);
    }
    data.columns.push_back(std::move(column));
  }
}

void addOverrides(SweepData& data, const std::vector<const Report*>& reports) {
  std::vector<std::string> keys;
  for (const Report* report : reports)
    for (const auto& [key, value] : report->facts.overrides)
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  for (const std::string& key : keys)
    addTextColumn(data, key, [&](std::size_t point) {
      std::optional<std::string> last;  // a key may be set twice: the last one counts
      for (const auto& [name, value] : reports[point]->facts.overrides)
        if (name == key) last = value;
      return last;
    });
}

}  // namespace

std::optional<std::size_t> SweepData::column(const std::string& name) const {
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == name) return i;
  return std::nullopt;
}

SweepData sweepOf(std::span<const SweepSource> sources) {
  SweepData data;
  std::vector<const Report*> reports;
  for (std::size_t s = 0; s < sources.size(); ++s)
    for (std::size_t i = 0; i < sources[s].reports.size(); ++i) {
      const Report& report = sources[s].reports[i];
      std::string title = sources[s].title + ": " + report.facts.system;
      if (const std::string point = pointText(report); !point.empty()) title += ", " + point;
      data.points.push_back({.title = std::move(title),
                             .run = sources[s].run,
                             .source = s,
                             .report = static_cast<int>(i),
                             .completed = report.completed,
                             .fits = report.fits,
                             .relativeError = report.relativeError.value_or(0),
                             .values = {}});
      reports.push_back(&report);
    }
  addOverrides(data, reports);
  addTextColumn(data, "system", [&](std::size_t i) { return std::optional(reports[i]->facts.system); });
  addTextColumn(data, "scenario", [&](std::size_t i) { return std::optional(reports[i]->facts.scenario); });
  addTextColumn(data, "GPU", [&](std::size_t i) { return std::optional(reports[i]->hardware.gpu); });
  addTextColumn(data, "run",
                [&](std::size_t i) { return std::optional(sources[data.points[i].source].title); });
  addResults(data, reports);
  return data;
}

namespace {

bool sharedX(const SweepData& data, std::size_t x) {
  std::set<double> seen;
  for (const SweepPoint& point : data.points)
    if (x < data.columns.size() && point.values[x] && !seen.insert(*point.values[x]).second) return true;
  return false;
}

}  // namespace

SweepChoice suggestedChoice(const SweepData& data) {
  SweepChoice choice;
  const std::size_t none = data.columns.size();
  std::size_t x = none, words = none;
  for (std::size_t i = 0; i < data.columns.size(); ++i) {
    const SweepColumn& column = data.columns[i];
    if (!column.varies || column.result) continue;
    if (column.numeric && x == none) x = i;
    if (!column.numeric && words == none) words = i;
  }
  choice.x = x != none ? x : words != none ? words : data.column("system").value_or(0);
  choice.y = data.column(kStepColumn).value_or(0);
  choice.kind = x != none ? SweepChoice::Kind::line : SweepChoice::Kind::scatter;
  for (const char* name : {"system", "scenario", "GPU"}) {
    const auto series = data.column(name);
    if (series && *series != choice.x && data.columns[*series].varies) {
      choice.series = series;
      break;
    }
  }
  // Several points at one x: the next thing that was swept makes lines of them.
  if (!choice.series && sharedX(data, choice.x))
    for (std::size_t i = 0; i < data.columns.size() && !choice.series; ++i)
      if (i != choice.x && data.columns[i].varies && !data.columns[i].result) choice.series = i;
  // Sizes that double are evenly spaced on a logarithmic axis.
  double low = 0, high = 0;
  for (const SweepPoint& point : data.points)
    if (x != none && point.values[x]) {
      low = low == 0 ? *point.values[x] : std::min(low, *point.values[x]);
      high = std::max(high, *point.values[x]);
    }
  choice.logX = low > 0 && high >= 8 * low;
  return choice;
}

std::vector<std::size_t> paretoFront(const SweepData& data, std::size_t x, std::size_t y) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < data.points.size(); ++i)
    if (data.points[i].fits && data.points[i].values[x] && data.points[i].values[y]) order.push_back(i);
  const auto key = [&](std::size_t i) {
    return std::pair(*data.points[i].values[x], *data.points[i].values[y]);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {
    const bool same = !front.empty() && key(front.back()) == key(i);
    if (front.empty() || same || key(i).second < key(front.back()).second) front.push_back(i);
  }
  return front;
}

}  // namespace vsim::gui
