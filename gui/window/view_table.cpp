#include "gui/window/view_table.h"

#include "gui/view/compare/compare_view.h"
#include "gui/view/memory/memory_view.h"
#include "gui/view/network/network_view.h"
#include "gui/view/plan/plan_view.h"
#include "gui/view/runs/runs_view.h"
#include "gui/view/scenario/scenario_view.h"
#include "gui/view/summary/summary_view.h"
#include "gui/view/sweep/sweep_view.h"
#include "gui/view/timeline/timeline_view.h"

namespace vsim::gui {

const std::vector<ViewEntry>& viewTable() {
  static const std::vector<ViewEntry> table{
      {"runs", makeRunsView},
      {"summary", makeSummaryView},
      {"timeline", makeTimelineView},
      {"memory", makeMemoryView},
      {"plan", makePlanView},
      {"network", makeNetworkView},
      {"compare", makeCompareView},
      {"sweep", makeSweepView},
      {"scenario", makeScenarioView},
  };
  return table;
}

}  // namespace vsim::gui
