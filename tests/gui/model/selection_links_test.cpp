#include "gui/model/selection_links.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "app/run.h"

using namespace vsim;
using namespace vsim::gui;

namespace {

std::shared_ptr<const core::ExecutionLog> tinyLog() {
  const auto results = app::run({.scenario = "tiny", .keepLogs = true}, {});
  REQUIRE(results);
  return results->front().log;
}

}  // namespace

TEST_CASE("selection links: a slice leads to its unit, its buffers and its collectives") {
  const auto log = tinyLog();
  const core::StepProgram& program = *log->program;
  std::size_t collectives = 0, kernels = 0;
  for (core::Index i = 0; i < program.step.size(); ++i) {
    const core::Instruction& what = program.step[i];
    const SelectionLinks links =
        linksOf(program, {.kind = Selection::Kind::slice, .lane = 0, .item = 0, .detail = i});
    CHECK(std::is_sorted(links.buffers.begin(), links.buffers.end()));
    CHECK(std::is_sorted(links.collectives.begin(), links.collectives.end()));
    if (what.kind == core::InstructionKind::collective) {
      ++collectives;
      const core::Collective& collective = program.collectives[what.operand];
      CHECK(links.unit == collective.unit);
      CHECK(links.collectives == std::vector<core::Index>{i});
      for (const core::Index buffer : {collective.input, collective.output})
        if (buffer != core::kNone) CHECK(links.hasBuffer(buffer));
    } else if (what.kind == core::InstructionKind::kernel) {
      const core::Kernel& kernel = program.kernels[what.operand];
      CHECK(links.unit == kernel.unit);
      for (const core::Index buffer : kernel.reads) CHECK(links.hasBuffer(buffer));
      if (kernel.unit == core::kNone) continue;
      ++kernels;
      // What computes names no buffer: those of its unit count.
      if (kernel.reads.empty() && kernel.writes.empty())
        for (const core::Index buffer : links.buffers) CHECK(program.buffers[buffer].unit == kernel.unit);
      for (const core::Index at : links.collectives)
        CHECK(program.collectives[program.step[at].operand].unit == kernel.unit);
    }
  }
  CHECK(collectives > 0);
  CHECK(kernels > 0);
}

TEST_CASE("selection links: buffers and units lead back; what is not there leads nowhere") {
  const auto log = tinyLog();
  const core::StepProgram& program = *log->program;
  for (core::Index unit = 0; unit < program.units.size(); ++unit) {
    const SelectionLinks links = linksOf(program, {.kind = Selection::Kind::unit, .item = unit});
    CHECK(links.unit == unit);
    CHECK_FALSE(links.buffers.empty());
    for (const core::Index buffer : links.buffers) {
      CHECK(program.buffers[buffer].unit == unit);
      CHECK(linksOf(program, {.kind = Selection::Kind::buffer, .item = buffer}).unit == unit);
    }
  }
  const auto size = static_cast<std::int64_t>(program.step.size() + program.buffers.size());
  for (const auto kind : {Selection::Kind::slice, Selection::Kind::buffer, Selection::Kind::unit,
                          Selection::Kind::none, Selection::Kind::link})
    for (const std::int64_t wrong : {std::int64_t{-1}, size}) {
      const SelectionLinks links = linksOf(program, {.kind = kind, .item = wrong, .detail = wrong});
      CHECK(links.unit == core::kNone);
      CHECK(links.buffers.empty());
      CHECK(links.collectives.empty());
    }
}
