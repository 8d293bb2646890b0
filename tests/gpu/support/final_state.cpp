#include "tests/gpu/support/final_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/program/data_moves.h"

namespace vsim::test {

using namespace vsim::core;

double reductionTolerance(std::initializer_list<DType> types) {
  constexpr double kFp32 = 1e-6, kFp16 = 0x1p-10, kBf16 = 0x1p-7;
  double result = kFp32;
  for (const DType type : types) {
    if (type == DType::fp16) result = std::max(result, kFp16);
    if (type == DType::bf16) result = std::max(result, kBf16);
  }
  return result;
}

double relativeDistance(std::span<const float> found, std::span<const float> wanted) {
  double distance = 0, norm = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!std::isfinite(found[i])) return std::numeric_limits<double>::infinity();
    const double difference = static_cast<double>(found[i]) - wanted[i];
    distance += difference * difference;
    norm += static_cast<double>(wanted[i]) * wanted[i];
  }
  if (distance == 0) return 0;
  return norm > 0 ? std::sqrt(distance / norm) : std::numeric_limits<double>::infinity();
}

namespace {

/// One rank's part of one tensor: parameters, first and second moments.
struct Part {
  std::vector<float> found, wanted;
};

std::string problemOf(const Part& part, double tolerance) {
  if (tolerance > 0) {
    const double distance = relativeDistance(part.found, part.wanted);
    return distance <= tolerance ? "" : fmt::format("off by {:.3g} of their norm", distance);
  }
  for (std::size_t i = 0; i < part.found.size(); ++i)
    if (part.found[i] != part.wanted[i])
      return fmt::format("number {} of the shard is {}, not {}", i, part.found[i], part.wanted[i]);
  return "";
}

}  // namespace

std::string finalDifference(const StepProgram& program, const ReferenceTraining& reference, int ranks,
                            const FinalContents& contents, int first, double tolerance) {
  constexpr const char* kNames[] = {"parameters", "first moments", "second moments"};
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
      const std::span<const float> found[] = {parameters, state.first(n), state.subspan(n)};
      const auto& table = program.tensorTables[unit.tensorTable];
      for (std::size_t t = 0; t < table.size(); ++t) {
        const auto& tensor = reference.at(u, rank % group.stride, t);
        const std::vector<float>* const wanted[] = {&tensor.parameters.back(), &tensor.average,
                                                    &tensor.averageSquare};
        for (std::size_t kind = 0; kind < 3; ++kind) {
          Part part;
          for (const Segment& s : shardSegments(unit, table[t], rank / group.stride % group.size))
            for (std::int64_t i = 0; i < s.count; ++i) {
              part.found.push_back(found[kind][static_cast<std::size_t>(s.to + i)]);
              part.wanted.push_back((*wanted[kind])[static_cast<std::size_t>(s.from + i)]);
            }
          if (const std::string problem = problemOf(part, tolerance); !problem.empty())
            return fmt::format("rank {}, {}.{}: {}: {}", rank, unit.name, table[t].name, kNames[kind],
                               problem);
        }
      }
    }
  }
  return "";
}

}  // namespace vsim::test
