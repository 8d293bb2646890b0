// Neighbouring layers of one kind as one unit: larger buckets pad less where blocks are coarse, and hold more
// at once.

#include <algorithm>
#include <map>

#include "core/train/train_model.h"

namespace vsim::core {
namespace {

bool isLayer(const WrapUnit& unit) {
  return !unit.root && !unit.groups.empty() &&
         unit.groups.front().kind >= 0;  // roots' groups have negative kinds
}

bool sameKind(const WrapUnit& a, const WrapUnit& b) {
  if (a.groups.size() != b.groups.size()) return false;
  for (std::size_t g = 0; g < a.groups.size(); ++g)
    if (a.groups[g].kind != b.groups[g].kind) return false;
  return true;
}

class Fuser {
 public:
  explicit Fuser(TrainModel& model) : model_(model) {
    for (const WrapUnit& unit : model.units)
      for (const GroupSpec& group : unit.groups) nextKind_ = std::max(nextKind_, group.kind + 1);
  }

  void fuse(std::size_t layersPerBucket) {
    std::vector<WrapUnit> units;
    std::vector<std::size_t> newIndex(model_.units.size());
    for (std::size_t first = 0; first < model_.units.size();) {
      std::size_t end = first + 1;
      while (isLayer(model_.units[first]) && end < model_.units.size() && end - first < layersPerBucket &&
             isLayer(model_.units[end]) && sameKind(model_.units[first], model_.units[end]))
        ++end;
      for (std::size_t u = first; u < end; ++u) newIndex[u] = units.size();
      units.push_back(end - first == 1 ? std::move(model_.units[first]) : fused(first, end));
      first = end;
    }
    model_.units = std::move(units);
    for (Block& block : model_.blocks) block.unit = newIndex[block.unit];
  }

 private:
  WrapUnit fused(std::size_t first, std::size_t end) {
    WrapUnit result;
    result.name = model_.units[first].name + "-" + model_.units[end - 1].name;
    for (std::size_t g = 0; g < model_.units[first].groups.size(); ++g) {
      const GroupSpec& example = model_.units[first].groups[g];
      GroupSpec group;
      group.expert = example.expert;
      group.name = group.expert ? result.name + "[efsdp]" : result.name;
      const auto [known, added] = made_.try_emplace({example.kind, end - first});
      if (added) known->second = {nextKind_++, repeated(*example.tensors, end - first)};
      group.kind = known->second.first;
      group.tensors = known->second.second;
      for (std::size_t u = first; u < end; ++u)
        group.blockOf.insert(group.blockOf.end(), model_.units[u].groups[g].blockOf.begin(),
                             model_.units[u].groups[g].blockOf.end());
      result.groups.push_back(std::move(group));
    }
    return result;
  }

  static std::shared_ptr<const GroupSpec::Tensors> repeated(const GroupSpec::Tensors& tensors,
                                                            std::size_t times) {
    GroupSpec::Tensors all;
    for (std::size_t layer = 0; layer < times; ++layer) {
      for (TensorSpec tensor : tensors) {
        tensor.name = std::to_string(layer) + "." + tensor.name;
        all.push_back(std::move(tensor));
      }
    }
    return std::make_shared<const GroupSpec::Tensors>(std::move(all));
  }

  TrainModel& model_;
  int nextKind_ = 0;
  std::map<std::pair<int, std::size_t>, std::pair<int, std::shared_ptr<const GroupSpec::Tensors>>> made_;
};

}  // namespace

void fuseLayers(TrainModel& model, std::int64_t layersPerBucket) {
  if (layersPerBucket > 1) Fuser(model).fuse(static_cast<std::size_t>(layersPerBucket));
}

}  // namespace vsim::core
