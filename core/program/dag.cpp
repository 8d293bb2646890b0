#include "core/program/dag.h"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/topological_sort.hpp>
#include <iterator>

namespace vsim::core {

class ProgramDag::Builder {
 public:
  explicit Builder(const StepProgram& program)
      : program_(program),
        tails_(program.streams.size(), kNone),
        communicators_(program.groups.size(), kNone),
        events_(program.events, kNone) {
    dag_.instructions_ = program.step.size();
  }

  Result<ProgramDag> run(int steps) {
    const std::size_t total = program_.step.size() * static_cast<std::size_t>(steps);
    dag_.host_.assign(total, kNone);
    dag_.device_.assign(total, kNone);
    for (step_ = 0; step_ < steps; ++step_) {
      for (Index i = 0; i < program_.step.size(); ++i) {
        const Instruction& instruction = program_.step[i];
        if (instruction.firstStepOnly && step_ > 0) continue;
        if (!valid(instruction))
          return fail(fmt::format("instruction {} names something that the program does not have", i));
        if (!add(instruction, i))
          return fail(fmt::format("instruction {}: the host waits for an event never recorded", i));
      }
    }
    return std::move(dag_);
  }

 private:
  [[nodiscard]] bool valid(const Instruction& i) const {
    if (i.stream >= program_.streams.size()) return false;
    switch (i.kind) {
      case InstructionKind::kernel:
        return i.operand < program_.kernels.size();
      case InstructionKind::collective:
        return i.operand < program_.collectives.size() &&
               program_.collectives[i.operand].group < program_.groups.size();
      case InstructionKind::recordEvent:
      case InstructionKind::waitEvent:
      case InstructionKind::hostWait:
        return i.operand < program_.events;
      case InstructionKind::waitStream:
        return i.operand < program_.streams.size();
      case InstructionKind::allocate:
      case InstructionKind::release:
      case InstructionKind::recordStream:
        return i.operand < program_.buffers.size();
      case InstructionKind::hook:
        return true;
    }
    return false;
  }

  Index node(Index instruction, bool device) {
    dag_.nodes_.push_back({instruction, static_cast<std::uint8_t>(step_), device});
    return static_cast<Index>(dag_.nodes_.size() - 1);
  }
  void edge(Index from, Index to) {
    if (from != kNone) dag_.edges_.emplace_back(from, to);
  }

  Index enqueue(Index instruction, StreamId stream) {
    const Index device = node(instruction, true);
    dag_.device_[slot(instruction)] = device;
    edge(lastHost_, device);
    edge(tails_[stream], device);
    tails_[stream] = device;
    return device;
  }
  [[nodiscard]] std::size_t slot(Index instruction) const {
    return static_cast<std::size_t>(step_) * program_.step.size() + instruction;
  }

  bool add(const Instruction& instruction, Index index) {
    const Index host = node(index, false);
    dag_.host_[slot(index)] = host;
    edge(lastHost_, host);
    edge(hostWaitsFor_, host);
    hostWaitsFor_ = kNone;
    lastHost_ = host;
    switch (instruction.kind) {
      case InstructionKind::kernel:
      case InstructionKind::hook:
        enqueue(index, instruction.stream);
        break;
      case InstructionKind::collective: {
        Index& previous = communicators_[program_.collectives[instruction.operand].group];
        const Index device = enqueue(index, instruction.stream);
        edge(previous, device);
        previous = device;
        break;
      }
      case InstructionKind::recordEvent:
        events_[instruction.operand] = enqueue(index, instruction.stream);
        break;
      case InstructionKind::waitEvent:
        edge(events_[instruction.operand], enqueue(index, instruction.stream));
        break;
      case InstructionKind::waitStream: {
        const Index other = tails_[instruction.operand];
        edge(other, enqueue(index, instruction.stream));
        break;
      }
      case InstructionKind::hostWait:
        hostWaitsFor_ = events_[instruction.operand];
        return hostWaitsFor_ != kNone;
      default:
        break;
    }
    return true;
  }

  const StepProgram& program_;
  ProgramDag dag_;
  int step_ = 0;
  Index lastHost_ = kNone, hostWaitsFor_ = kNone;
  std::vector<Index> tails_, communicators_, events_;
};

Result<ProgramDag> ProgramDag::build(const StepProgram& program, int steps) {
  if (steps < 1 || steps > 255) return fail(fmt::format("{} steps: 1 to 255 are possible", steps));
  return Builder(program).run(steps);
}

Index ProgramDag::hostNode(int step, Index instruction) const {
  return host_[static_cast<std::size_t>(step) * instructions_ + instruction];
}
Index ProgramDag::deviceNode(int step, Index instruction) const {
  return device_[static_cast<std::size_t>(step) * instructions_ + instruction];
}

std::vector<Index> ProgramDag::topologicalOrder() const {
  using Graph = boost::compressed_sparse_row_graph<boost::directedS>;
  const Graph graph(boost::edges_are_unsorted, edges_.begin(), edges_.end(), nodes_.size());
  std::vector<Index> order;
  order.reserve(nodes_.size());
  try {
    boost::topological_sort(graph, std::back_inserter(order));
  } catch (const boost::not_a_dag&) {
    return {};
  }
  std::reverse(order.begin(), order.end());
  return order;
}

namespace {

bool anyNegative(const std::vector<Picoseconds>& times) {
  return std::any_of(times.begin(), times.end(), [](Picoseconds t) { return t < 0; });
}

Picoseconds durationOf(const StepProgram& program, const DagNode& node, const Durations& d) {
  const Instruction& instruction = program.step[node.instruction];
  switch (instruction.kind) {
    case InstructionKind::kernel: {
      const Index operation = program.kernels[instruction.operand].operation;
      if (operation == kNone) return 0;
      if (node.device) return d.operations[operation];
      return d.launch * std::max(1, program.operations[operation].count);
    }
    case InstructionKind::collective:
      return node.device ? d.collectives[instruction.operand] : d.launch;
    case InstructionKind::allocate:
    case InstructionKind::recordEvent:
    case InstructionKind::waitEvent:
    case InstructionKind::hostWait:
      return node.device ? 0 : d.hostCall;
    case InstructionKind::waitStream:
      return node.device ? 0 : 2 * d.hostCall;
    default:
      return 0;
  }
}

/// Edges by their end, so that a node sees all its predecessors.
std::vector<std::vector<Index>> predecessorsOf(const ProgramDag& dag) {
  std::vector<std::vector<Index>> result(dag.nodes().size());
  for (const auto& [from, to] : dag.edges()) result[to].push_back(from);
  return result;
}

}  // namespace

Result<CriticalPath> criticalPath(const StepProgram& program, const ProgramDag& dag,
                                  const Durations& durations) {
  if (durations.operations.size() != program.operations.size() ||
      durations.collectives.size() != program.collectives.size())
    return fail("the durations are of another program");
  if (anyNegative(durations.operations) || anyNegative(durations.collectives) || durations.launch < 0 ||
      durations.hostCall < 0)
    return fail("a duration is negative");
  const auto predecessors = predecessorsOf(dag);
  std::vector<Picoseconds> ends(dag.nodes().size());
  std::vector<Index> longest(dag.nodes().size(), kNone);
  CriticalPath path;
  Index last = kNone;
  for (const Index node : dag.topologicalOrder()) {
    Picoseconds begin = 0;
    for (const Index before : predecessors[node]) {
      if (longest[node] != kNone && ends[before] <= begin) continue;
      begin = ends[before];
      longest[node] = before;
    }
    ends[node] = begin + durationOf(program, dag.nodes()[node], durations);
    if (last == kNone || ends[node] > path.length) {
      last = node;
      path.length = ends[node];
    }
  }
  for (; last != kNone; last = longest[last]) path.nodes.push_back(last);
  std::reverse(path.nodes.begin(), path.nodes.end());
  return path;
}

Result<CriticalPath> criticalPath(const StepProgram& program, const Durations& durations) {
  const auto dag = ProgramDag::build(program);
  if (!dag) return tl::unexpected(dag.error());
  return criticalPath(program, *dag, durations);
}

std::vector<Picoseconds> earliestBegins(const ProgramDag& dag, std::span<const Picoseconds> ends) {
  VSIM_CHECK(ends.size() == dag.nodes().size(), "one end per node");
  const auto predecessors = predecessorsOf(dag);
  std::vector<Picoseconds> result(dag.nodes().size(), 0);
  for (const Index node : dag.topologicalOrder())
    for (const Index before : predecessors[node])
      result[node] = std::max({result[node], result[before], ends[before]});
  return result;
}

}  // namespace vsim::core
