#pragma once

#include <QListWidget>

#include "gui/session/session.h"

namespace vsim::gui {

/// The runs that are open, the current one in front. Enter or a double click makes another the current one,
/// Delete closes.
class OpenRunsPanel : public QListWidget {
  Q_OBJECT
 public:
  OpenRunsPanel(Session& session, QWidget* parent);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void showRuns();

  Session& session_;
};

}  // namespace vsim::gui
