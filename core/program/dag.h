#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/program/step_program.h"

namespace vsim::core {

/// One instruction's part on the host thread or in its stream.
struct DagNode {
  Index instruction = 0;  // into StepProgram::step
  std::uint8_t step = 0;
  bool device = false;
};

/// What must come before what in a program: a graph without cycles over the host's issue of every instruction
/// and the stream's run of those that go to a stream (kernels, collectives, records, waits, hooks).
///
/// Edges: host order; issue before run; stream order; a recorded event before what waits for its latest
/// record; all work of a stream before what waits for the stream; collectives of one communicator in issue
/// order; an event before whatever the host issues after hostWait. An event that was never recorded holds
/// nobody back (cudaStreamWaitEvent). Cost linear in instructions. Immutable.
class ProgramDag {
 public:
  /// `steps` steps, one after the other. Errors: operands that the program does not have, a wait of the host
  /// for an event never recorded.
  [[nodiscard]] static Result<ProgramDag> build(const StepProgram& program, int steps = 1);

  [[nodiscard]] const std::vector<DagNode>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<std::pair<Index, Index>>& edges() const { return edges_; }
  /// kNone: the step leaves the instruction out, or (device) nothing of it runs in a stream.
  [[nodiscard]] Index hostNode(int step, Index instruction) const;
  [[nodiscard]] Index deviceNode(int step, Index instruction) const;
  /// Every node after all that must come before it; empty when the graph has a cycle.
  [[nodiscard]] std::vector<Index> topologicalOrder() const;

 private:
  class Builder;
  std::size_t instructions_ = 0;
  std::vector<DagNode> nodes_;
  std::vector<std::pair<Index, Index>> edges_;
  std::vector<Index> host_, device_;  // [step * instructions + instruction]
};

/// Times that are charged to a program's nodes.
struct Durations {
  std::vector<Picoseconds> operations{}, collectives{};  // indices of the program
  Picoseconds launch = 0;                                // host, per kernel launch or collective
  Picoseconds hostCall = 0;  // host, per event call or allocation; waitStream makes two
};

struct CriticalPath {
  Picoseconds length = 0;
  std::vector<Index> nodes;  // of the dag, first to last
};

/// The longest chain of dependent work: no execution with these durations is faster. Ties go to the lower
/// node. Errors: tables of another program, negative durations.
[[nodiscard]] Result<CriticalPath> criticalPath(const StepProgram& program, const ProgramDag& dag,
                                                const Durations& durations);
/// The same over one step.
[[nodiscard]] Result<CriticalPath> criticalPath(const StepProgram& program, const Durations& durations);

/// For every node the latest end among the nodes that must come before it, from the ends that are known;
/// `ends`: per node, or a negative number where the end is not known (its predecessors count in its place).
[[nodiscard]] std::vector<Picoseconds> earliestBegins(const ProgramDag& dag,
                                                      std::span<const Picoseconds> ends);

}  // namespace vsim::core
