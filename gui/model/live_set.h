#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/model/data_table.h"
#include "gui/model/memory_lifetimes.h"

namespace vsim::gui {

/// A buffer that is live at an instant.
struct LiveBuffer {
  core::Index buffer = 0;
  std::int64_t lifetime = 0;                              // of Lifetimes
  core::Bytes bytes = 0, asked = 0;                       // what it takes; what was asked for
  std::uint64_t address = 0;                              // as logged
  std::optional<core::Picoseconds> allocatedAt, freedAt;  // empty: before the log; not within it
  core::Bytes peakIfRemoved = 0;                          // of the run, if this buffer never existed
};

/// What is live after one event, by category, then unit, then buffer. Plain data.
struct LiveSet {
  struct Unit {
    core::Index unit = core::kNone;
    std::string name;  // "L3"; "no unit"
    core::Bytes bytes = 0;
    std::vector<LiveBuffer> buffers;  // largest first
  };
  struct Part {
    std::size_t part = 0;  // kMemoryParts: memory_curve.h
    core::Bytes bytes = 0;
    core::Bytes peakIfRemoved = 0;  // of the run, if nothing of this category existed
    std::vector<Unit> units;        // in the program's order; none for what was allocated before the log
  };
  std::int64_t event = -1;
  core::Picoseconds time = 0;
  core::Bytes allocated = 0, active = 0, reserved = 0, runPeak = 0;
  std::vector<Part> parts;  // in the order of categories, empty ones left out
  [[nodiscard]] std::size_t buffers() const;
};

[[nodiscard]] LiveSet liveAfter(const Lifetimes& lifetimes, std::int64_t event);
/// One row for each buffer, and one for bytes of unknown buffers.
[[nodiscard]] DataTable tableOf(const LiveSet& live, const core::StepProgram& program);
/// "ag_out (L3)".
[[nodiscard]] std::string bufferTitle(const core::StepProgram& program, core::Index buffer);

}  // namespace vsim::gui
