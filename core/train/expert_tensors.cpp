// Stacks of routed experts as one tensor per expert.

#include <fmt/format.h>

#include <map>

#include "core/train/train_model.h"

namespace vsim::core {
namespace {

bool isStack(const TensorSpec& tensor) { return tensor.routedExpert && tensor.shape.size() >= 3; }

/// "mlp.experts.down_proj" -> "mlp.experts.7.down_proj": patterns on experts match either form.
std::string expertName(const std::string& stack, std::int64_t expert) {
  static constexpr std::string_view kMark = "experts.";
  const std::size_t at = stack.find(kMark);
  if (at == std::string::npos) return fmt::format("{}.{}", stack, expert);
  const std::size_t end = at + kMark.size();
  return fmt::format("{}{}.{}", stack.substr(0, end), expert, stack.substr(end));
}

}  // namespace

void separateStackedExperts(TrainModel& model) {
  std::map<const GroupSpec::Tensors*, std::shared_ptr<const GroupSpec::Tensors>> changed;
  std::vector<std::shared_ptr<const GroupSpec::Tensors>> before;  // keeps the keys alive
  for (WrapUnit& unit : model.units) {
    for (GroupSpec& group : unit.groups) {
      const GroupSpec::Tensors& tensors = *group.tensors;
      std::vector<std::size_t> blockOf;
      for (std::size_t t = 0; t < tensors.size(); ++t)
        blockOf.insert(blockOf.end(), isStack(tensors[t]) ? static_cast<std::size_t>(tensors[t].shape[0]) : 1,
                       group.blockOf[t]);
      auto& apart = changed[&tensors];
      if (!apart) {
        GroupSpec::Tensors list;
        for (const TensorSpec& tensor : tensors) {
          if (!isStack(tensor)) {
            list.push_back(tensor);
            continue;
          }
          TensorSpec one = tensor;
          one.shape.erase(one.shape.begin());
          if (one.tensorParallelDim > 0) --one.tensorParallelDim;
          for (std::int64_t e = 0; e < tensor.shape[0]; ++e) {
            one.name = expertName(tensor.name, e);
            list.push_back(one);
          }
        }
        apart = std::make_shared<const GroupSpec::Tensors>(std::move(list));
      }
      before.push_back(group.tensors);
      group.blockOf = std::move(blockOf);
      group.tensors = apart;
    }
  }
}

}  // namespace vsim::core
