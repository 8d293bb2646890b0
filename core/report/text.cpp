#include "core/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/report/text_table.h"

namespace vsim::core {
namespace {

constexpr std::size_t kColumns = 4;  // runs side by side; more go below
constexpr std::string_view kNoValue = "-";

std::string time(double seconds) {
  return seconds > 0 ? formatTime(picosecondsFromSeconds(seconds)) : std::string("0");
}
std::string percent(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }

std::string timeAndShare(double seconds, const RunReport& run) {
  return fmt::format("{} {:>7}", time(seconds), percent(seconds / run.stepSeconds));
}

/// "123.4 M", "9,876.5": a rate with three to five significant digits.
std::string rate(double perSecond) {
  if (perSecond >= 1e9) return fmt::format("{:.3f} G", perSecond * 1e-9);
  if (perSecond >= 1e6) return fmt::format("{:.3f} M", perSecond * 1e-6);
  if (perSecond >= 1e5) return formatCount(std::llround(perSecond));
  if (perSecond >= 1e3) {
    const long long tenths = std::llround(perSecond * 10);
    return fmt::format("{}.{}", formatCount(tenths / 10), tenths % 10);
  }
  return fmt::format("{:.2f}", perSecond);
}

std::string bandwidth(double bytesPerSecond) { return fmt::format("{:.1f} GB/s", bytesPerSecond * 1e-9); }

/// The sweep point, "cluster.gpus=1024 batch.micro_batch=2"; empty without overrides.
std::string point(const RunReport& run) {
  std::string result;
  for (const auto& [key, value] : run.facts.overrides)
    result += fmt::format("{}{}={}", result.empty() ? "" : " ", key, value);
  return result;
}

std::string title(const RunReport& run) {
  const std::string overrides = point(run);
  return overrides.empty() ? run.facts.system : run.facts.system + ", " + overrides;
}

template <class F>
void addRow(TextTable& table, const char* label, std::span<const RunReport> runs, F&& cell) {
  std::vector<std::string> cells{label};
  for (const RunReport& run : runs) cells.push_back(cell(run));
  table.add(std::move(cells));
}

/// Like addRow, for values that exist only when a step completed.
template <class F>
void addTimed(TextTable& table, const char* label, std::span<const RunReport> runs, F&& cell) {
  addRow(table, label, runs,
         [&](const RunReport& r) { return r.completed ? cell(r) : std::string(kNoValue); });
}

void addSpeed(TextTable& table, std::span<const RunReport> runs) {
  addTimed(table, "step time", runs, [](const RunReport& r) { return time(r.stepSeconds); });
  if (std::any_of(runs.begin(), runs.end(), [](const RunReport& r) { return r.relativeError.has_value(); }))
    addTimed(table, "  standard error", runs, [](const RunReport& r) {
      return r.relativeError ? "+- " + percent(*r.relativeError) : std::string(kNoValue);
    });
  addTimed(table, "tokens/s", runs, [](const RunReport& r) { return rate(r.tokensPerSecond); });
  addTimed(table, "tokens/s per GPU", runs, [](const RunReport& r) { return rate(r.tokensPerSecondPerGpu); });
  addTimed(table, "MFU", runs, [](const RunReport& r) { return percent(r.mfu); });
  addTimed(table, "HFU", runs, [](const RunReport& r) { return percent(r.hfu); });
  table.addGap();
  addTimed(table, "compute", runs, [](const RunReport& r) { return timeAndShare(r.computeSeconds, r); });
  addTimed(table, "exposed communication", runs,
           [](const RunReport& r) { return timeAndShare(r.exposedCommSeconds, r); });
  addTimed(table, "bubble", runs, [](const RunReport& r) { return timeAndShare(r.bubbleSeconds, r); });
  addTimed(table, "communication, all", runs,
           [](const RunReport& r) { return timeAndShare(r.commSeconds, r); });
  addRow(table, "padding", runs,
         [](const RunReport& r) { return fmt::format("{:.2f} %", r.facts.paddingRatio * 100); });
}

std::string categoryLabel(std::size_t category) {
  if (static_cast<MemoryCategory>(category) == MemoryCategory::ncclContext) return "  NCCL and context";
  if (static_cast<MemoryCategory>(category) == MemoryCategory::logitsLoss) return "  logits and loss";
  std::string label = "  " + std::string(kMemoryCategoryNames[category]);
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

void addMemory(TextTable& table, std::span<const RunReport> runs) {
  table.add({"memory per GPU, at the peak of the worst rank"});
  const std::size_t outside = static_cast<std::size_t>(MemoryCategory::ncclContext);
  for (std::size_t i = 0; i < outside; ++i) {
    const auto used = [i](const RunReport& r) { return r.memoryByCategory[i] != 0; };
    if (std::none_of(runs.begin(), runs.end(), used)) continue;
    addRow(table, categoryLabel(i).c_str(), runs,
           [i](const RunReport& r) { return formatBytes(r.memoryByCategory[i]); });
  }
  addRow(table, "peak allocated", runs, [](const RunReport& r) { return formatBytes(r.peakAllocated); });
  addRow(table, "peak reserved", runs, [](const RunReport& r) { return formatBytes(r.peakReserved); });
  addRow(table, categoryLabel(outside).c_str() + 2, runs,
         [=](const RunReport& r) { return formatBytes(r.memoryByCategory[outside]); });
  addRow(table, "capacity", runs, [](const RunReport& r) { return formatBytes(r.hardware.capacityBytes); });
  addRow(table, "free", runs, [](const RunReport& r) { return formatBytes(r.marginBytes); });
}

/// A row per overridden key, in the order of first appearance.
void addPoints(TextTable& table, std::span<const RunReport> runs) {
  std::vector<std::string> keys;
  for (const RunReport& run : runs)
    for (const auto& [key, value] : run.facts.overrides)
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  for (const std::string& key : keys)
    addRow(table, key.c_str(), runs, [&](const RunReport& r) {
      std::string last(kNoValue);  // a key may be set twice: the last one counts
      for (const auto& [name, value] : r.facts.overrides)
        if (name == key) last = value;
      return last;
    });
  if (!keys.empty()) table.addGap();
}

void addProvenance(TextTable& table, std::span<const RunReport> runs) {
  table.addGap();
  table.add({"share of the step time that rests on costs"});
  for (std::size_t i = 0; i < kProvenanceNames.size(); ++i)
    addTimed(table, ("  " + std::string(kProvenanceNames[i])).c_str(), runs,
             [i](const RunReport& r) { return percent(r.provenance[i]); });
}

std::string comparison(std::span<const RunReport> runs) {
  TextTable table;
  addRow(table, "", runs, [](const RunReport& r) { return r.facts.system; });
  addPoints(table, runs);
  addSpeed(table, runs);
  table.addGap();
  addMemory(table, runs);
  if (std::any_of(runs.begin(), runs.end(), [](const RunReport& r) { return r.completed; }))
    addProvenance(table, runs);
  return table.text();
}

std::string phaseTable(const RunReport& run) {
  TextTable table;
  table.add({run.facts.system + " by phase", "time", "share", "compute", "exposed", "idle", "comm"});
  for (const PhaseRow& row : run.phases)
    table.add({"  " + std::string(kPhaseNames[static_cast<std::size_t>(row.phase)]), time(row.seconds),
               percent(row.seconds / run.stepSeconds), time(row.computeSeconds), time(row.exposedSeconds),
               time(row.idleSeconds), time(row.commSeconds)});
  return table.text();
}

std::string collectiveTable(const RunReport& run) {
  TextTable table;
  table.add({run.facts.system + " collectives", "group", "ranks", "count", "bytes each", "time each", "busbw",
             "time"});
  for (const CollectiveRow& row : run.collectives)
    table.add({"  " + std::string(kCollectiveNames[static_cast<std::size_t>(row.kind)]), row.group,
               formatCount(row.groupSize), formatCount(row.count), formatBytes(row.bytes / row.count),
               time(row.seconds / static_cast<double>(row.count)), bandwidth(row.busBandwidth),
               time(row.seconds)});
  return table.text();
}

/// What all runs share, in one line.
std::string heading(std::span<const RunReport> runs) {
  const RunReport& first = runs.front();
  const auto same = [&](auto&& get) {
    return std::all_of(runs.begin(), runs.end(), [&](const RunReport& r) { return get(r) == get(first); });
  };
  std::string line = first.facts.scenario;
  if (same([](const RunReport& r) { return r.facts.gpus; })) {
    line += fmt::format(": {} GPUs", formatCount(first.facts.gpus));
    if (same([](const RunReport& r) { return r.hardware.gpu; }) && !first.hardware.gpu.empty())
      line += " (" + first.hardware.gpu + ")";
  }
  if (same([](const RunReport& r) { return r.facts.parameters; }))
    line += fmt::format(", {} parameters", formatCount(first.facts.parameters));
  if (same([](const RunReport& r) { return r.facts.tokensPerStep; }))
    line += fmt::format(", {} tokens a step", formatCount(first.facts.tokensPerStep));
  return line + "\n\n";
}

/// Which run is the fastest that fits; empty when there is nothing to choose from.
std::string choice(std::span<const RunReport> runs) {
  const RunReport* best = nullptr;
  const RunReport* second = nullptr;
  for (const RunReport& run : runs) {
    if (!run.fits || !run.completed) continue;
    if (best == nullptr || run.tokensPerSecondPerGpu > best->tokensPerSecondPerGpu) {
      second = best;
      best = &run;
    } else if (second == nullptr || run.tokensPerSecondPerGpu > second->tokensPerSecondPerGpu) {
      second = &run;
    }
  }
  if (runs.size() < 2) return {};
  if (best == nullptr) return "None of them fits.\n";
  if (second == nullptr) return fmt::format("Only {} fits.\n", title(*best));
  return fmt::format("Fastest per GPU that fits: {}, {:.3f} x {}.\n", title(*best),
                     best->tokensPerSecondPerGpu / second->tokensPerSecondPerGpu, title(*second));
}

}  // namespace

std::string verdict(const RunReport& run) {
  const std::string outcome = run.completed
                                  ? fmt::format("{} a step, {} tokens/s, MFU {}", time(run.stepSeconds),
                                                rate(run.tokensPerSecond), percent(run.mfu))
                                  : std::string("no step completed");
  const std::string capacity = formatBytes(run.hardware.capacityBytes);
  const Bytes used = run.hardware.capacityBytes - run.marginBytes;
  if (run.fits)
    return fmt::format("{}: fits, {} of {} used ({} free); {}.", title(run), formatBytes(used), capacity,
                       formatBytes(run.marginBytes), outcome);
  if (run.marginBytes < 0)
    return fmt::format("{}: DOES NOT FIT, needs {} of {} ({} lacking); {}{}.", title(run), formatBytes(used),
                       capacity, formatBytes(-run.marginBytes), run.completed ? "with enough memory: " : "",
                       outcome);
  return fmt::format("{}: OUT OF MEMORY, no room for {} with {} of {} used; {}.", title(run),
                     run.outOfMemoryBuffer.empty() ? "a buffer" : run.outOfMemoryBuffer, formatBytes(used),
                     capacity, outcome);
}

std::string toText(std::span<const RunReport> runs) {
  if (runs.empty()) return "no runs\n";
  std::string result = heading(runs);
  for (std::size_t at = 0; at < runs.size(); at += kColumns)
    result += comparison(runs.subspan(at, std::min(kColumns, runs.size() - at))) + "\n";
  if (runs.size() <= kColumns)
    for (const RunReport& run : runs) {
      if (!run.completed) continue;
      result += phaseTable(run) + "\n";
      if (!run.collectives.empty()) result += collectiveTable(run) + "\n";
    }
  for (const RunReport& run : runs) result += verdict(run) + "\n";
  return result + choice(runs);
}

}  // namespace vsim::core
