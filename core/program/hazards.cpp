#include "core/program/hazards.h"

#include <algorithm>

namespace vsim::core {
namespace {

/// Answers in constant time whether one node is before another: every node keeps how far it is ordered after
/// each stream (a vector clock; the host thread is one more stream).
class Order {
 public:
  Order(const StepProgram& program, const ProgramDag& dag)
      : width_(program.streams.size() + 1),
        clocks_(width_ * dag.nodes().size(), 0),
        lanes_(dag.nodes().size()),
        positions_(dag.nodes().size()) {
    std::vector<std::vector<Index>> before(dag.nodes().size());
    for (const auto& [from, to] : dag.edges()) before[to].push_back(from);
    std::vector<std::uint32_t> issued(width_, 0);
    for (const Index node : dag.topologicalOrder()) {
      const DagNode& n = dag.nodes()[node];
      lanes_[node] = n.device ? program.step[n.instruction].stream : width_ - 1;
      std::uint32_t* const own = &clocks_[node * width_];
      for (const Index from : before[node])
        for (std::size_t lane = 0; lane < width_; ++lane)
          own[lane] = std::max(own[lane], clocks_[from * width_ + lane]);
      // Nodes of one lane are a chain: their order in it is the order in which they come here.
      own[lanes_[node]] = positions_[node] = ++issued[lanes_[node]];
    }
  }

  [[nodiscard]] bool before(Index a, Index b) const {
    return clocks_[b * width_ + lanes_[a]] >= positions_[a];
  }

 private:
  std::size_t width_;
  std::vector<std::uint32_t> clocks_;
  std::vector<std::size_t> lanes_;
  std::vector<std::uint32_t> positions_;
};

struct Access {
  Index node = 0;
  StreamId stream = 0;
  bool writes = false;
};

struct Lifetime {
  Index buffer = kNone;
  std::size_t freedBefore = 0;  // lifetimes of the pool that had ended when this one began
  std::vector<Access> accesses;
  std::vector<StreamId> recorded;
};

class Finder {
 public:
  Finder(const StepProgram& program, const ProgramDag& dag, const HookReads& hookReads, std::size_t limit)
      : program_(program),
        dag_(dag),
        order_(program, dag),
        hookReads_(hookReads),
        limit_(limit),
        live_(program.buffers.size()),
        ended_(program.streams.size()) {
    for (const Instruction& instruction : program.setup)
      if (instruction.kind == InstructionKind::allocate) begin(instruction.operand);
  }

  std::vector<Hazard> run(int steps) {
    for (step_ = 0; step_ < steps; ++step_)
      for (index_ = 0; index_ < program_.step.size(); ++index_)
        if (found_.size() < limit_ && dag_.hostNode(step_, index_) != kNone) look(program_.step[index_]);
    return std::move(found_);
  }

 private:
  void begin(Index buffer) {
    Lifetime lifetime;
    lifetime.buffer = buffer;
    lifetime.freedBefore = ended_[program_.buffers[buffer].stream].size();
    live_[buffer].push_back(std::move(lifetime));
  }

  void look(const Instruction& instruction) {
    switch (instruction.kind) {
      case InstructionKind::allocate:
        begin(instruction.operand);
        break;
      case InstructionKind::release:
        if (!live_[instruction.operand].empty()) end(instruction.operand);
        break;
      case InstructionKind::recordStream:
        if (!live_[instruction.operand].empty())
          live_[instruction.operand].back().recorded.push_back(instruction.stream);
        break;
      case InstructionKind::kernel:
        for (const Index buffer : program_.kernels[instruction.operand].reads) access(buffer, false);
        for (const Index buffer : program_.kernels[instruction.operand].writes) access(buffer, true);
        break;
      case InstructionKind::collective: {
        const Collective& collective = program_.collectives[instruction.operand];
        if (collective.input != kNone) access(collective.input, false);
        if (collective.output != kNone) access(collective.output, true);
        break;
      }
      case InstructionKind::hook:
        if (hookReads_ && instruction.label != kNone)
          for (const Index buffer : hookReads_(program_.labels[instruction.label])) access(buffer, false);
        break;
      default:
        break;
    }
  }

  void end(Index buffer) {
    ended_[program_.buffers[buffer].stream].push_back(std::move(live_[buffer].back()));
    live_[buffer].pop_back();
  }

  void access(Index buffer, bool writes) {
    const Index node = dag_.deviceNode(step_, index_);
    if (live_[buffer].empty()) {
      report(buffer, node, node, "is used while it is not live");
      return;
    }
    Lifetime& lifetime = live_[buffer].back();
    for (const Access& earlier : lifetime.accesses)
      if ((earlier.writes || writes) && earlier.node != node && !order_.before(earlier.node, node))
        report(buffer, earlier.node, node, "is not kept in order");
    const auto& ended = ended_[program_.buffers[buffer].stream];
    for (std::size_t i = 0; i < lifetime.freedBefore; ++i)
      for (const Access& earlier : ended[i].accesses)
        if (!order_.before(earlier.node, node) && !recorded(ended[i], earlier.stream))
          report(buffer, earlier.node, node,
                 "may reuse memory of " + program_.buffers[ended[i].buffer].name + " that is still used");
    lifetime.accesses.push_back({node, program_.step[index_].stream, writes});
  }

  static bool recorded(const Lifetime& lifetime, StreamId stream) {
    return std::find(lifetime.recorded.begin(), lifetime.recorded.end(), stream) != lifetime.recorded.end();
  }

  void report(Index buffer, Index first, Index second, const std::string& what) {
    if (found_.size() >= limit_) return;
    const DagNode &a = dag_.nodes()[first], &b = dag_.nodes()[second];
    const Buffer& named = program_.buffers[buffer];
    const std::string unit = named.unit == kNone ? "" : "(" + program_.units[named.unit].name + ")";
    found_.push_back({.buffer = buffer,
                      .first = a.instruction,
                      .second = b.instruction,
                      .firstStep = a.step,
                      .secondStep = b.step,
                      .text = fmt::format("{}{} {}: instruction {} of step {} and {} of step {}", named.name,
                                          unit, what, a.instruction, a.step, b.instruction, b.step)});
  }

  const StepProgram& program_;
  const ProgramDag& dag_;
  Order order_;
  const HookReads& hookReads_;
  std::size_t limit_;
  int step_ = 0;
  Index index_ = 0;
  std::vector<std::vector<Lifetime>> live_;   // [buffer]: none or one
  std::vector<std::vector<Lifetime>> ended_;  // [pool], in the order of their release
  std::vector<Hazard> found_;
};

}  // namespace

Result<std::vector<Hazard>> findHazards(const StepProgram& program, int steps, const HookReads& hookReads,
                                        std::size_t limit) {
  const auto dag = ProgramDag::build(program, steps);
  if (!dag) return tl::unexpected(dag.error());
  return Finder(program, *dag, hookReads, limit).run(steps);
}

}  // namespace vsim::core
