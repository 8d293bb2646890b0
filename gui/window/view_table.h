#pragma once

#include <memory>
#include <vector>

#include "gui/view/view.h"

namespace vsim::gui {

/// One page of the window: how it is made, and the key of the pages in their order (1 to 9).
struct ViewEntry {
  const char* key;  // as View::key()
  std::unique_ptr<View> (*make)(Session& session, QWidget* parent);
};

/// All pages in the order of their tabs. A new page is a line here.
[[nodiscard]] const std::vector<ViewEntry>& viewTable();

}  // namespace vsim::gui
