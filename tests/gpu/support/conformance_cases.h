#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/train/system.h"
#include "tests/core/train/odd_model.h"

namespace vsim::test {

/// One way to train the odd model.
struct ConformanceCase {
  std::string name;
  OddModel model;
  core::TrainOptions options;

  [[nodiscard]] int ranks() const {
    return static_cast<int>(options.parallel.fsdp * options.parallel.replicate * options.parallel.tensor);
  }
};

/// Every option of the systems at least once, some together.
std::vector<ConformanceCase> conformanceCases();

/// The program that `system` makes of it. Throws std::runtime_error with the error when there is none.
std::shared_ptr<const core::StepProgram> programOf(const core::System& system, const ConformanceCase& what);

/// Buffers that hold a block's or group's unsharded parameters, found by the label of a hook at which they
/// must be there: "forward-compute L1", "begin backward-compute L1", "reshard L1". One entry per unit.
struct UnshardedUnit {
  core::Index unit = core::kNone;
  bool copiedOut = false;  // one buffer per tensor, else the gathered buffer
  std::vector<core::Index> buffers;
};
class UnshardedParameters {
 public:
  UnshardedParameters(const core::StepProgram& program, const core::TrainModel& model);
  [[nodiscard]] std::vector<UnshardedUnit> at(const std::string& label) const;

 private:
  std::vector<UnshardedUnit> units_;
  std::vector<std::pair<std::string, std::vector<core::Index>>> named_;
};

}  // namespace vsim::test
