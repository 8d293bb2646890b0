#include "tests/gpu/support/reference_training.h"

#include "core/optim/optimizer.h"
#include "gpu/rounding.h"
#include "gpu/synthetic.h"

namespace vsim::test {

using namespace vsim::core;
using gpu::roundTo;

ReferenceTraining::ReferenceTraining(const StepProgram& program, const TrainOptions& options, int ranks,
                                     std::uint64_t seed, int steps)
    : program_(program), options_(options), ranks_(ranks), seed_(seed), steps_(steps) {
  for (Index u = 0; u < program.units.size(); ++u) {
    const std::int64_t stride = program.groups[program.units[u].group].stride;
    const std::size_t count = program.tensorTables[program.units[u].tensorTable].size();
    for (std::int64_t coordinate = 0; coordinate < stride; ++coordinate)
      for (std::size_t t = 0; t < count; ++t) tensors_[{u, coordinate}].push_back(train(u, coordinate, t));
  }
}

const ReferenceTraining::Tensor& ReferenceTraining::at(Index unit, std::int64_t coordinate,
                                                       std::size_t tensor) const {
  return tensors_.at({unit, coordinate})[tensor];
}

/// The ranks that hold the tensor, by replica and shard.
std::vector<std::vector<int>> ReferenceTraining::replicas(const Unit& unit, std::int64_t coordinate) const {
  const CommGroup& group = program_.groups[unit.group];
  std::vector<std::vector<int>> result;
  for (std::int64_t base = coordinate; base < ranks_; base += group.size * group.stride) {
    result.emplace_back();
    for (std::int64_t i = 0; i < group.size; ++i)
      result.back().push_back(static_cast<int>(base + i * group.stride));
  }
  return result;
}

ReferenceTraining::Tensor ReferenceTraining::train(Index unitIndex, std::int64_t coordinate,
                                                   std::size_t tensorIndex) const {
  const Unit& unit = program_.units[unitIndex];
  const UnitTensor& tensor = program_.tensorTables[unit.tensorTable][tensorIndex];
  const gpu::TensorKey key{seed_, unit.name + "." + tensor.name, coordinate};
  const DType stored = options_.precision.params, compute = options_.precision.compute,
              reduce = options_.precision.reduce;
  const auto holders = replicas(unit, coordinate);
  const auto micro = static_cast<int>(options_.accumulation);
  const bool keepUnsharded = options_.system.accumulateUnsharded && program_.system == "fsdp2";
  const auto n = static_cast<std::size_t>(tensor.elements);

  Tensor result;
  std::vector<AdamwState> states(n);
  const gpu::InitialValues initial(key);
  for (std::size_t e = 0; e < n; ++e)
    states[e].parameter = roundTo(stored, initial(static_cast<std::int64_t>(e)));
  const auto note = [&] {
    result.parameters.emplace_back();
    for (const AdamwState& state : states) result.parameters.back().push_back(state.parameter);
  };
  note();
  for (int step = 0; step < steps_; ++step) {
    for (std::size_t e = 0; e < n; ++e) {
      const auto gradient = [&](int rank, int m) {
        const gpu::GradientValues values(key, rank, step, m);
        return roundTo(compute, values(static_cast<std::int64_t>(e)));
      };
      const auto unsharded = [&](int rank, int m) {
        float sum = roundTo(reduce, gradient(rank, m));
        if (!keepUnsharded) return sum;
        for (int earlier = 1; earlier < micro; ++earlier)
          sum = roundTo(reduce, sum + gradient(rank, earlier));
        return sum;
      };
      const auto reduced = [&](int m) {
        std::vector<float> shards;
        for (const std::vector<int>& ranks : holders) {
          float sum = 0;
          for (const int rank : ranks) sum += unsharded(rank, m);
          shards.push_back(roundTo(reduce, sum / static_cast<float>(ranks.size())));
        }
        float sum = 0;
        for (const float shard : shards) sum += shard;
        return holders.size() == 1 ? shards.front()
                                   : roundTo(reduce, sum / static_cast<float>(shards.size()));
      };
      float total = roundTo(stored, reduced(0));
      for (int m = 1; m < micro && !keepUnsharded; ++m) total = roundTo(stored, total + reduced(m));
      states[e] = adamwStep(states[e], total, step + 1);
      states[e].parameter = roundTo(stored, states[e].parameter);
    }
    note();
  }
  for (const AdamwState& state : states) {
    result.average.push_back(state.exponentialAverage);
    result.averageSquare.push_back(state.exponentialAverageSquare);
  }
  return result;
}

}  // namespace vsim::test
