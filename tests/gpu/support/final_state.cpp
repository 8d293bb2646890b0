#include "tests/gpu/support/final_state.h"

#include <fmt/format.h>

#include "core/program/data_moves.h"

namespace vsim::test {

using namespace vsim::core;

std::string finalDifference(const StepProgram& program, const ReferenceTraining& reference, int ranks,
                            const FinalContents& contents, int first) {
  std::vector<Index> states(program.units.size(), kNone);
  for (const Kernel& kernel : program.kernels)
    if (kernel.role == KernelRole::optimizer) states[kernel.unit] = kernel.reads[2];
  for (int rank = first; rank < first + ranks; ++rank) {
    for (Index u = 0; u < program.units.size(); ++u) {
      const Unit& unit = program.units[u];
      const CommGroup& group = program.groups[unit.group];
      const auto parameters = contents(rank, unit.parameters), state = contents(rank, states[u]);
      const auto n = static_cast<std::size_t>(unit.shardElements);
      if (parameters.size() != n || state.size() != 2 * n) return unit.name + ": a buffer is missing";
      const auto& table = program.tensorTables[unit.tensorTable];
      for (std::size_t t = 0; t < table.size(); ++t) {
        const auto& wanted = reference.at(u, rank % group.stride, t);
        for (const Segment& s : shardSegments(unit, table[t], rank / group.stride % group.size))
          for (std::int64_t i = 0; i < s.count; ++i) {
            const auto from = static_cast<std::size_t>(s.from + i), to = static_cast<std::size_t>(s.to + i);
            if (parameters[to] != wanted.parameters.back()[from] || state[to] != wanted.average[from] ||
                state[n + to] != wanted.averageSquare[from])
              return fmt::format("rank {}, {}.{}[{}]: {} {} {}, not {} {} {}", rank, unit.name, table[t].name,
                                 from, parameters[to], state[to], state[n + to],
                                 wanted.parameters.back()[from], wanted.average[from],
                                 wanted.averageSquare[from]);
          }
      }
    }
  }
  return "";
}

}  // namespace vsim::test
