#pragma once

#include <memory>

#include "gui/view/view.h"

namespace vsim::gui {

/// Memory of a run: over time, what is live at an instant, the allocator's segments, all allocations.
[[nodiscard]] std::unique_ptr<View> makeMemoryView(Session& session, QWidget* parent);

}  // namespace vsim::gui
