#include "gui/view/scenario/scenario_view.h"

#include "gui/view/scenario/scenario_page.h"

namespace vsim::gui {

std::unique_ptr<View> makeScenarioView(Session& session, QWidget* parent) {
  return std::make_unique<ScenarioPage>(session, parent);
}

}  // namespace vsim::gui
