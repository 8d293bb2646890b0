#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/train/system.h"

namespace vsim::test {

/// The same training in one thread on whole tensors: no program, no buffers, no streams; the arithmetic of
/// the reductions in the order that the ranks' indices give.
class ReferenceTraining {
 public:
  ReferenceTraining(const core::StepProgram& program, const core::TrainOptions& options, int ranks,
                    std::uint64_t seed, int steps);

  struct Tensor {
    std::vector<std::vector<float>> parameters;  // [step]: before that step; the last one: after all
    std::vector<float> average, averageSquare;   // Adam's states after all steps
  };
  /// `coordinate`: which of the tensors under one name (experts, tensor parallelism).
  [[nodiscard]] const Tensor& at(core::Index unit, std::int64_t coordinate, std::size_t tensor) const;

 private:
  Tensor train(core::Index unit, std::int64_t coordinate, std::size_t tensor) const;
  [[nodiscard]] std::vector<std::vector<int>> replicas(const core::Unit& unit, std::int64_t coordinate) const;

  const core::StepProgram& program_;
  const core::TrainOptions& options_;
  int ranks_;
  std::uint64_t seed_;
  int steps_;
  std::map<std::pair<core::Index, std::int64_t>, std::vector<Tensor>> tensors_;
};

}  // namespace vsim::test
