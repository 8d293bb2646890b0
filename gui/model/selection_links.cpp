#include "gui/model/selection_links.h"

#include <algorithm>

namespace vsim::gui {
namespace {

using core::Index;
using core::InstructionKind;
using core::kNone;

void tidy(std::vector<Index>& list) {
  std::erase(list, kNone);
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

void addInstruction(SelectionLinks& links, const core::StepProgram& program, Index index) {
  const core::Instruction& what = program.step[index];
  if (what.kind == InstructionKind::collective) {
    const core::Collective& collective = program.collectives[what.operand];
    links.unit = collective.unit;
    links.buffers = {collective.input, collective.output};
    links.collectives = {index};
  } else if (what.kind == InstructionKind::kernel) {
    const core::Kernel& kernel = program.kernels[what.operand];
    links.unit = kernel.unit;
    links.buffers = kernel.reads;
    links.buffers.insert(links.buffers.end(), kernel.writes.begin(), kernel.writes.end());
    if (kernel.role == core::KernelRole::gradient && kernel.tensorCount == 1 && links.unit != kNone &&
        program.units[links.unit].tensorTable != kNone)
      links.tensor = kernel.firstTensor;
  }
  tidy(links.buffers);
}

/// Collectives that the buffer goes in or comes out of.
void addCollectivesOf(SelectionLinks& links, const core::StepProgram& program, Index buffer) {
  for (Index i = 0; i < program.step.size(); ++i) {
    if (program.step[i].kind != InstructionKind::collective) continue;
    const core::Collective& collective = program.collectives[program.step[i].operand];
    if (collective.input == buffer || collective.output == buffer) links.collectives.push_back(i);
  }
}

/// What the selection itself does not name is that of its unit.
void addUnit(SelectionLinks& links, const core::StepProgram& program) {
  if (links.unit == kNone) return;
  if (links.buffers.empty())
    for (Index i = 0; i < program.buffers.size(); ++i)
      if (program.buffers[i].unit == links.unit) links.buffers.push_back(i);
  if (!links.collectives.empty()) return;
  for (Index i = 0; i < program.step.size(); ++i)
    if (program.step[i].kind == InstructionKind::collective &&
        program.collectives[program.step[i].operand].unit == links.unit)
      links.collectives.push_back(i);
}

}  // namespace

bool SelectionLinks::hasBuffer(Index buffer) const {
  return std::binary_search(buffers.begin(), buffers.end(), buffer);
}

SelectionLinks linksOf(const core::StepProgram& program, const Selection& selection) {
  SelectionLinks links;
  const auto below = [](std::int64_t value, std::size_t size) {
    return value >= 0 && static_cast<std::size_t>(value) < size;
  };
  switch (selection.kind) {
    case Selection::Kind::slice:
      if (!below(selection.detail, program.step.size())) return links;
      addInstruction(links, program, static_cast<Index>(selection.detail));
      break;
    case Selection::Kind::buffer:
      if (!below(selection.item, program.buffers.size())) return links;
      links.buffers = {static_cast<Index>(selection.item)};
      links.unit = program.buffers[links.buffers.front()].unit;
      addCollectivesOf(links, program, links.buffers.front());
      break;
    case Selection::Kind::unit:
      if (!below(selection.item, program.units.size())) return links;
      links.unit = static_cast<Index>(selection.item);
      links.tensor = selection.detail;
      break;
    case Selection::Kind::none:
    case Selection::Kind::link:
      return links;
  }
  addUnit(links, program);
  return links;
}

}  // namespace vsim::gui
