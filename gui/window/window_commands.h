#pragma once

#include <vector>

#include "gui/view/view.h"

namespace vsim::gui {

class MainWindow;

// The window's own commands, a menu each.
[[nodiscard]] std::vector<Command> fileCommands(MainWindow& window);
[[nodiscard]] std::vector<Command> editCommands(MainWindow& window);
/// Pages, panels, theme, size of the text.
[[nodiscard]] std::vector<Command> lookCommands(MainWindow& window);
[[nodiscard]] std::vector<Command> helpCommands(MainWindow& window);

}  // namespace vsim::gui
