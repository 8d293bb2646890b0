#include "app/profile_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "sim/cluster/described_cluster.h"

namespace vsim::app {
namespace {

using namespace core;

using Interval = std::pair<Picoseconds, Picoseconds>;

std::string nameOf(const Profile& profile) {
  return profile.name.empty() ? std::filesystem::path(profile.path).stem().string() : profile.name;
}

/// One name for what driver, catalogue and people call differently.
std::string boardName(const std::string& device) {
  const GpuSpec* board = sim::boardOfDevice(device);
  return board ? board->name : device;
}

Picoseconds covered(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  Picoseconds total = 0, end = 0;
  for (const auto& [first, last] : intervals) {
    total += std::max<Picoseconds>(0, last - std::max(first, end));
    end = std::max(end, last);
  }
  return total;
}

void noteHardware(const Scenario& scenario, const CostModels& models, std::vector<std::string>& notes) {
  const Profile& profile = models.profile;
  const std::string& device =
      profile.hardware && !profile.hardware->device.empty() ? profile.hardware->device : profile.gpu;
  if (!device.empty() && boardName(device) != boardName(models.cluster.gpu.name) &&
      boardName(profile.gpu) != boardName(models.cluster.gpu.name))
    notes.push_back(fmt::format(
        "profile {} was measured on {}, the scenario's cluster has {}: its costs are used as they are",
        nameOf(profile), boardName(device), models.cluster.gpu.name));
  if (profile.hardware && profile.hardware->executor == "host" &&
      profile.hardware->scale != scenario.real.scale)
    notes.push_back(fmt::format(
        "profile {} was measured with real.scale {}, the scenario has {}: its costs are used as they are",
        nameOf(profile), profile.hardware->scale, scenario.real.scale));
}

void noteMissingLevels(const CostModels& models, const ExecutionLog& log, std::vector<std::string>& notes) {
  if (log.ranks.empty() || log.ranks[0].stepEnd.empty()) return;
  const RankLog& rank = log.ranks[0];
  const StepProgram& program = *log.program;
  const std::size_t last = rank.stepEnd.size() - 1;
  std::array<std::vector<Interval>, std::size(kLocalityNames)> across;
  for (const Slice& slice : rank.slices) {
    const Instruction& instruction = program.step[slice.instruction];
    if (slice.step != last || instruction.kind != InstructionKind::collective) continue;
    const CommGroup& group = program.groups[program.collectives[instruction.operand].group];
    if (const auto level = models.collectives.missingLevel(group))
      across[static_cast<std::size_t>(*level)].emplace_back(slice.begin, slice.end);
  }
  const auto step = static_cast<double>(rank.stepEnd[last] - rank.stepBegin[last]);
  constexpr std::array<std::string_view, 3> kPlaces{"inside a node", "across nodes", "across racks"};
  for (std::size_t level = 0; level < across.size(); ++level) {
    if (across[level].empty() || !(step > 0)) continue;
    notes.push_back(fmt::format(
        "profile {} has no measurement {}: collectives that take {:.0f} % of the step rest on the model",
        nameOf(models.profile), kPlaces[level],
        100 * static_cast<double>(covered(std::move(across[level]))) / step));
  }
}

}  // namespace

std::vector<std::string> profileNotes(const Scenario& scenario, const CostModels& models,
                                      const ExecutionLog& log) {
  std::vector<std::string> notes;
  noteHardware(scenario, models, notes);
  noteMissingLevels(models, log, notes);
  return notes;
}

}  // namespace vsim::app
