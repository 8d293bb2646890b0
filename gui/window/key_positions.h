#pragma once

#include <QKeyEvent>
#include <QObject>

#include "gui/window/command_table.h"

namespace vsim::gui {

/// Lets W, A, S and D work by their place on the keyboard: on a French one the keys there are labelled Z, Q,
/// S and D. Filters the application's key events; letters elsewhere on the keyboard then mean nothing of the
/// four.
class KeyPositions : public QObject {
  Q_OBJECT
 public:
  KeyPositions(const CommandTable& commands, QWidget* window);

  /// The letter that stands at this place on a keyboard of the USA; 0: none of the four. Codes as X11 and
  /// Wayland give them (those of Linux's input layer plus 8).
  [[nodiscard]] static int letterAt(quint32 scanCode);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  [[nodiscard]] bool typesText() const;

  const CommandTable& commands_;
  QWidget* window_;
  int refused_ = 0;  // key whose own shortcut was refused; its press follows
};

}  // namespace vsim::gui
