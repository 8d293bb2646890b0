#pragma once

#include <QComboBox>
#include <QToolBar>
#include <QToolButton>

#include "gui/session/session.h"

namespace vsim::gui {

/// Choice of report and step, and what the statistics are limited to. Follows the session and changes it.
class ToolStrip : public QToolBar {
  Q_OBJECT
 public:
  ToolStrip(Session& session, QWidget* parent);

  [[nodiscard]] QComboBox& reports() const { return *reports_; }
  [[nodiscard]] QComboBox& steps() const { return *steps_; }
  [[nodiscard]] QToolButton& limit() const { return *limit_; }

 private:
  void showRun();
  void showLimit();
  void chooseStep(int index);

  Session& session_;
  QComboBox* reports_;
  QComboBox* steps_;
  QToolButton* limit_;
  QAction* limitAction_;
  std::vector<TimeRange> ranges_;  // of the entries of steps_
};

/// "fsdp2 cluster.gpus=1024": what tells the report from the others of its run.
[[nodiscard]] QString reportTitle(const core::RunReport& report);

}  // namespace vsim::gui
