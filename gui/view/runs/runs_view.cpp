#include "gui/view/runs/runs_view.h"

#include "gui/view/runs/runs_page.h"

namespace vsim::gui {

std::unique_ptr<View> makeRunsView(Session& session, QWidget* parent) {
  return std::make_unique<RunsPage>(session, parent);
}

}  // namespace vsim::gui
