#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/base/collective.h"
#include "core/program/execution_log.h"

namespace vsim::core {

/// What a stretch of a step's time belongs to. Every instant belongs to the kernel on the default stream,
/// else to the collective that runs, else to the kernel on another stream, else to nobody: from the end of
/// one piece of work to the moment at which the host issued the next one it is `launch`, from then to its
/// begin `wait` (for other ranks, or for the device).
enum class PartKind : std::uint8_t { kernel, exposed, copy, launch, wait };

inline constexpr std::string_view kPartNames[] = {"kernel", "exposed", "copy", "launch", "wait"};

/// Kernels by the name of their operation; collectives by kind and communicator ("all_gather dp_shard").
using PartKey = std::pair<PartKind, std::string>;

/// Launches of one class in a step, and what they took together, hidden or not.
struct ClassTime {
  double count = 0, seconds = 0;
};

/// A step of one class of ranks taken apart; seconds.
struct StepParts {
  double seconds = 0;
  std::map<PartKey, double> parts;           // sum to `seconds`
  std::array<double, 7> byPhase{};           // sum to `seconds`; as PhaseRow::seconds
  std::array<double, 5> byKind{};            // by PartKind; sum to `seconds`
  double communication = 0;                  // union of all collectives, hidden or not
  std::map<std::string, ClassTime> kernels;  // by operation, on all streams
  std::map<std::tuple<CollectiveKind, Index>, ClassTime> collectives;  // by kind and communicator
};

/// Takes step number `step` apart; `ranks` must have completed it.
[[nodiscard]] StepParts stepParts(const StepProgram& program, const RankLog& ranks, std::size_t step);

/// The mean of `steps` (at least one), its times stretched so that the step takes `seconds`.
[[nodiscard]] StepParts meanParts(std::span<const StepParts> steps, double seconds);

/// "all_gather dp_shard".
[[nodiscard]] std::string collectiveClass(const StepProgram& program, const Collective& collective);

}  // namespace vsim::core
