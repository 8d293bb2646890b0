#include "gui/window/view_table.h"

#include "gui/view/runs/runs_view.h"

namespace vsim::gui {

const std::vector<ViewEntry>& viewTable() {
  static const std::vector<ViewEntry> table{};
  return table;
}

}  // namespace vsim::gui
