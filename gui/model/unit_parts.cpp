#include "gui/model/unit_parts.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "core/report/timeline.h"
#include "traces/slice_text.h"

namespace vsim::gui {

std::string unitKind(const std::string& unit) {
  std::string kind;
  for (const char c : unit) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) kind += c;
    if (digit && (kind.empty() || kind.back() != '*')) kind += '*';
  }
  return kind.empty() ? "no unit" : kind;
}

UnitParts unitParts(const core::StepProgram& program, const core::RankLog& ranks, std::size_t step) {
  const core::StepTimeline timeline = core::stepTimeline(program, ranks, step);
  std::vector<std::string> names(program.step.size());  // of instructions; empty: not asked yet
  const auto nameOf = [&](const core::Slice& slice) -> const std::string& {
    std::string& name = names[slice.instruction];
    if (name.empty())
      name = unitKind(traces::sliceUnit(program, slice.instruction)) + " " +
             std::string(core::kPhaseNames[static_cast<std::size_t>(program.step[slice.instruction].phase)]);
    return name;
  };
  std::map<std::string, core::Picoseconds> sums;
  core::sweep(timeline, [&](core::Picoseconds length, const core::Slice* kernel,
                            const core::Slice* collective, const core::Slice* copy) {
    const core::Slice* owner = kernel != nullptr ? kernel : collective != nullptr ? collective : copy;
    sums[owner == nullptr ? "waiting" : nameOf(*owner)] += length;
  });
  UnitParts parts;
  for (const auto& [name, length] : sums) parts[name] = core::secondsFromPicoseconds(length);
  return parts;
}

}  // namespace vsim::gui
