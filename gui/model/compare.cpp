#include "gui/model/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "gui/model/figure_text.h"
#include "gui/model/side_parts.h"

namespace vsim::gui {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

using Parts = std::map<std::string, double>;

DeltaRow figure(DeltaUnit unit, std::string name, const std::vector<ComparedSide>& sides,
                double (*value)(const core::RunReport&)) {
  DeltaRow row{.group = unit == DeltaUnit::bytes ? DeltaGroup::memory : DeltaGroup::step,
               .unit = unit,
               .name = std::move(name),
               .values = {}};
  for (const ComparedSide& side : sides) row.values.push_back(value(side.figures()));
  return row;
}

void addStep(Comparison& result, const std::vector<SideParts>& parts) {
  using Report = core::RunReport;
  DeltaRow step{.group = DeltaGroup::step, .unit = DeltaUnit::seconds, .name = "step time", .values = {}};
  DeltaRow exposed{.group = DeltaGroup::step, .unit = DeltaUnit::fraction, .name = "exposed", .values = {}};
  for (const SideParts& side : parts) {
    step.values.push_back(side.seconds > 0 ? side.seconds : kUnknown);
    const auto at = side.kinds.find("exposed communication");
    exposed.values.push_back(side.seconds > 0 && at != side.kinds.end() ? at->second / side.seconds
                                                                        : kUnknown);
  }
  result.rows.push_back(std::move(step));
  result.rows.push_back(std::move(exposed));
  const auto add = [&](DeltaUnit unit, const char* name, double (*value)(const Report&)) {
    result.rows.push_back(figure(unit, name, result.sides, value));
  };
  add(DeltaUnit::perSecond, "tokens/s", [](const Report& r) { return r.tokensPerSecond; });
  add(DeltaUnit::perSecond, "tokens/s per GPU", [](const Report& r) { return r.tokensPerSecondPerGpu; });
  add(DeltaUnit::fraction, "MFU", [](const Report& r) { return r.mfu; });
  add(DeltaUnit::fraction, "HFU", [](const Report& r) { return r.hfu; });
  add(DeltaUnit::fraction, "padding", [](const Report& r) { return r.facts.paddingRatio; });
}

double largest(const DeltaRow& row) {
  double most = 0;
  for (std::size_t side = 1; side < row.values.size(); ++side)
    if (std::isfinite(row.difference(side))) most = std::max(most, std::abs(row.difference(side)));
  return most;
}

void addParts(Comparison& result, const std::vector<SideParts>& parts, DeltaGroup group,
              Parts SideParts::*field) {
  std::set<std::string> names;
  for (const SideParts& side : parts)
    for (const auto& [name, seconds] : side.*field) names.insert(name);
  std::vector<DeltaRow> rows;
  for (const std::string& name : names) {
    DeltaRow row{.group = group, .unit = DeltaUnit::seconds, .name = name, .values = {}};
    for (const SideParts& side : parts) {
      const auto at = (side.*field).find(name);
      row.values.push_back(at != (side.*field).end() ? at->second : (side.*field).empty() ? kUnknown : 0);
    }
    const bool anything =
        std::ranges::any_of(row.values, [](double v) { return std::isfinite(v) && v != 0; });
    if (anything) rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const DeltaRow& a, const DeltaRow& b) { return largest(a) > largest(b); });
  std::move(rows.begin(), rows.end(), std::back_inserter(result.rows));
}

void addMemory(Comparison& result) {
  using Report = core::RunReport;
  const auto add = [&](const char* name, double (*value)(const Report&)) {
    result.rows.push_back(figure(DeltaUnit::bytes, name, result.sides, value));
  };
  add("peak reserved", [](const Report& r) { return static_cast<double>(r.peakReserved); });
  add("peak allocated", [](const Report& r) { return static_cast<double>(r.peakAllocated); });
  std::vector<DeltaRow> rows;
  for (std::size_t c = 0; c < std::size(core::kMemoryCategoryNames); ++c) {
    DeltaRow row{.group = DeltaGroup::memory,
                 .unit = DeltaUnit::bytes,
                 .name = categoryText(static_cast<core::MemoryCategory>(c)),
                 .values = {}};
    for (const ComparedSide& side : result.sides)
      row.values.push_back(static_cast<double>(side.figures().memoryByCategory[c]));
    if (std::ranges::any_of(row.values, [](double v) { return v != 0; })) rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const DeltaRow& a, const DeltaRow& b) { return largest(a) > largest(b); });
  std::move(rows.begin(), rows.end(), std::back_inserter(result.rows));
}

/// The order in which kinds and phases follow each other in a step.
std::size_t naturalOrder(const std::string& name) {
  const std::string_view order[] = {"compute",      "exposed communication",
                                    "copies alone", "host-bound",
                                    "waiting",      "setup",
                                    "forward",      "loss",
                                    "recompute",    "backward",
                                    "reduce",       "optimizer"};
  return static_cast<std::size_t>(std::find(std::begin(order), std::end(order), name) - std::begin(order));
}

}  // namespace

double DeltaRow::relative(std::size_t side) const {
  return values[0] != 0 ? difference(side) / values[0] : kUnknown;
}

std::string valueText(DeltaUnit unit, double value) {
  if (!std::isfinite(value)) return "-";
  switch (unit) {
    case DeltaUnit::seconds:
      return timeText(value);
    case DeltaUnit::bytes:
      return core::formatBytes(std::llround(value));
    case DeltaUnit::fraction:
      return percentText(value);
    case DeltaUnit::perSecond:
      return rateText(value);
  }
  return {};
}

std::string differenceText(DeltaUnit unit, double difference) {
  if (!std::isfinite(difference)) return "-";
  switch (unit) {
    case DeltaUnit::seconds:
      return signedTimeText(difference);
    case DeltaUnit::bytes:
      return signedBytesText(difference);
    case DeltaUnit::fraction:
      return fmt::format("{:+.1f} points", difference * 100);
    case DeltaUnit::perSecond:
      return (difference < 0 ? "-" : "+") + rateText(std::abs(difference));
  }
  return {};
}

Comparison compare(std::vector<ComparedSide> sides, const std::function<bool()>& cancelled) {
  Comparison result;
  result.sides = std::move(sides);
  if (result.sides.size() > kMostSides) result.sides.resize(kMostSides);
  if (result.sides.size() < 2) return result;
  std::vector<SideParts> parts;
  for (const ComparedSide& side : result.sides) {
    if (cancelled && cancelled()) return result;
    parts.push_back(sidePartsOf(side));
    if (!parts.back().note.empty()) result.notes.push_back(parts.back().note);
  }
  addStep(result, parts);
  addParts(result, parts, DeltaGroup::kind, &SideParts::kinds);
  addParts(result, parts, DeltaGroup::phase, &SideParts::phases);
  addParts(result, parts, DeltaGroup::unit, &SideParts::units);
  addParts(result, parts, DeltaGroup::part, &SideParts::parts);
  addParts(result, parts, DeltaGroup::collective, &SideParts::collectives);
  addMemory(result);
  result.configuration = configurationDifference(result.sides);
  return result;
}

Waterfall waterfallOf(const Comparison& comparison, std::size_t side, DeltaGroup by, std::size_t most) {
  Waterfall result;
  if (side == 0 || side >= comparison.sides.size()) return result;
  bool known = true;
  for (const DeltaRow& row : comparison.rows) {
    if (row.group == DeltaGroup::step && row.name == "step time") {
      result.from = row.values[0];
      result.to = row.values[side];
    }
    if (row.group != by) continue;
    known = known && std::isfinite(row.difference(side));
    result.bars.push_back({row.name, row.difference(side)});
  }
  if (!known || !std::isfinite(result.to - result.from)) return {};
  if (by == DeltaGroup::kind || by == DeltaGroup::phase) {
    std::stable_sort(result.bars.begin(), result.bars.end(),
                     [](const WaterfallBar& a, const WaterfallBar& b) {
                       return naturalOrder(a.name) < naturalOrder(b.name);
                     });
    return result;
  }
  std::stable_sort(result.bars.begin(), result.bars.end(), [](const WaterfallBar& a, const WaterfallBar& b) {
    return std::abs(a.seconds) > std::abs(b.seconds);
  });
  if (result.bars.size() > most) {
    double others = 0;
    for (std::size_t i = most; i < result.bars.size(); ++i) others += result.bars[i].seconds;
    const std::size_t count = result.bars.size() - most;
    result.bars.resize(most);
    result.bars.push_back({fmt::format("{} others", count), others});
  }
  return result;
}

std::vector<DeltaRow> largestDifferences(const Comparison& comparison, std::size_t side, std::size_t most) {
  std::vector<DeltaRow> rows;
  if (side == 0 || side >= comparison.sides.size()) return rows;
  // Contributors sum to the step; where logs are missing, phases do.
  const auto known = [&](const DeltaRow& row) {
    return std::isfinite(row.difference(side)) && row.difference(side) != 0;
  };
  for (const DeltaGroup group : {DeltaGroup::part, DeltaGroup::phase}) {
    for (const DeltaRow& row : comparison.rows)
      if (row.group == group && known(row)) rows.push_back(row);
    if (!rows.empty()) break;
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const DeltaRow& a, const DeltaRow& b) {
    return std::abs(a.difference(side)) > std::abs(b.difference(side));
  });
  if (rows.size() > most) rows.resize(most);
  return rows;
}

DataTable tableOf(const Comparison& comparison) {
  constexpr const char* kUnits[] = {"s", "bytes", "fraction", "1/s"};
  DataTable table{{"what", "name", "unit"}, {}, {false, false, false}};
  const auto column = [&](std::string name) {
    table.header.push_back(std::move(name));
    table.numeric.push_back(true);
  };
  for (const ComparedSide& side : comparison.sides) column(side.title);
  for (std::size_t i = 1; i < comparison.sides.size(); ++i) {
    const std::string of(1, static_cast<char>('A' + i));
    column(of + " - A");
    column(of + " / A - 1");
  }
  for (const DeltaRow& row : comparison.rows) {
    std::vector<std::string> cells{kDeltaGroupNames[static_cast<std::size_t>(row.group)], row.name,
                                   kUnits[static_cast<std::size_t>(row.unit)]};
    for (const double value : row.values) cells.push_back(plainNumber(value));
    for (std::size_t i = 1; i < row.values.size(); ++i) {
      cells.push_back(plainNumber(row.difference(i)));
      cells.push_back(plainNumber(row.relative(i)));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

DataTable configurationTable(const Comparison& comparison) {
  DataTable table{{"key"}, {}, {false}};
  for (const ComparedSide& side : comparison.sides) {
    table.header.push_back(side.title);
    table.numeric.push_back(false);
  }
  for (const ConfigurationRow& row : comparison.configuration) {
    std::vector<std::string> cells{row.key};
    cells.insert(cells.end(), row.values.begin(), row.values.end());
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace vsim::gui
