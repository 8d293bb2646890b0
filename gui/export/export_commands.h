#pragma once

#include <QWidget>
#include <functional>
#include <vector>

#include "gui/view/view.h"

namespace vsim::gui {

/// "Export view..." (Ctrl+E) and "Show as table" for whatever view is in front; `current` may answer null.
/// `window` owns the dialogs.
[[nodiscard]] std::vector<Command> exportCommands(std::function<View*()> current, Session& session,
                                                  QWidget* window);

}  // namespace vsim::gui
