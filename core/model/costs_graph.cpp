#include "core/model/costs.h"

namespace vsim::core {

Result<ModuleCosts> moduleCosts(const ModelGraph& graph, const Module& module, const WorkShape& work) {
  return moduleCosts(graph.config(), module.kind, module.layer, work);
}

}  // namespace vsim::core
