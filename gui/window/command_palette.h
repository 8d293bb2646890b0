#pragma once

#include <QDialog>
#include <QLineEdit>
#include <QListWidget>

#include "gui/window/command_table.h"

namespace vsim::gui {

/// All commands by name: what is typed narrows the list, Enter runs the first. Not modal.
class CommandPalette : public QDialog {
  Q_OBJECT
 public:
  CommandPalette(const CommandTable& commands, QWidget* parent);
  [[nodiscard]] QStringList shownNames() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void narrow(const QString& pattern);
  void runSelected();

  const CommandTable& commands_;
  QLineEdit* input_;
  QListWidget* list_;
};

/// Every command with its keys and what it does, as a table.
class KeyList : public QDialog {
  Q_OBJECT
 public:
  KeyList(const CommandTable& commands, QWidget* parent);
};

}  // namespace vsim::gui
