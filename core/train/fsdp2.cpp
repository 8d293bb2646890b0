#include "core/train/fsdp2.h"

#include <map>

#include "core/plan/fsdp2_layout.h"
#include "core/train/fsdp2_emitter.h"

namespace vsim::core {

/// Experts that have fewer than `devices` rows in dim 0 are cut on their next dimension, as torchtitan does;
/// where that does not divide, dim 0 is padded.
void Fsdp2::prepare(TrainModel& model, const TrainOptions& options) const {
  const ParallelSpec& p = options.parallel;
  std::map<const GroupSpec::Tensors*, std::shared_ptr<const GroupSpec::Tensors>> changed;
  for (WrapUnit& unit : model.units) {
    for (GroupSpec& group : unit.groups) {
      const std::int64_t devices = group.expert ? p.fsdp * p.tensor / p.expert : p.fsdp;
      auto& tensors = changed[group.tensors.get()];
      if (!tensors) {
        GroupSpec::Tensors copy = *group.tensors;
        for (TensorSpec& tensor : copy) {
          if (!tensor.routedExpert || tensor.shape.size() < 2 || tensor.shape[0] >= devices) continue;
          // Seen with the cut dimension first: sizes, padding and volumes are those of Shard(1).
          if (tensor.shape[1] % devices == 0) std::swap(tensor.shape[0], tensor.shape[1]);
        }
        tensors = std::make_shared<const GroupSpec::Tensors>(std::move(copy));
      }
      group.tensors = tensors;
    }
  }
}

Result<LayoutSet> Fsdp2::plan(const TrainModel& model, const TrainOptions& options) const {
  auto set = layoutProblems(model, options, 1, 1);
  if (!set) return set;
  for (LayoutProblem& problem : set->problems) {
    for (PlanTensor& tensor : problem.tensors)
      tensor.block = 1;  // FSDP2 knows no blocks: rows are cut as they come
    auto layout = fsdp2Layout(problem);
    if (!layout) return tl::unexpected(layout.error());
    set->layouts.push_back(std::move(*layout));
  }
  return verified(std::move(*set));
}

Result<StepProgram> Fsdp2::emit(const TrainModel& model, const TrainOptions& options,
                                const LayoutSet& layouts) const {
  auto optimizer = optimizerTraits(options.optimizer.name, options.optimizer.block);
  if (!optimizer) return tl::unexpected(optimizer.error());
  TrainContext context("fsdp2", model, options, layouts, *optimizer);
  Fsdp2Emitter(context, options).emit();
  return std::move(context.builder()).take();
}

}  // namespace vsim::core
