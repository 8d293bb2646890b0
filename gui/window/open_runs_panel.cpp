#include "gui/window/open_runs_panel.h"

#include <QKeyEvent>

#include "core/base/units.h"

namespace vsim::gui {

OpenRunsPanel::OpenRunsPanel(Session& session, QWidget* parent) : QListWidget(parent), session_(session) {
  setAccessibleName("open runs");
  setWordWrap(true);
  connect(&session, &Session::runsChanged, this, &OpenRunsPanel::showRuns);
  connect(&session, &Session::baselineChanged, this, &OpenRunsPanel::showRuns);
  connect(this, &QListWidget::itemActivated, this,
          [this](QListWidgetItem* item) { session_.makeCurrent(static_cast<std::size_t>(row(item))); });
  showRuns();
}

void OpenRunsPanel::showRuns() {
  clear();
  for (const Session::Run& run : session_.runs()) {
    QString text = QString::fromStdString(run->title);
    if (!run->scenario.empty()) text += ": " + QString::fromStdString(run->scenario);
    if (!run->reports.empty())
      text += QString(", %1 GPUs")
                  .arg(QString::fromStdString(core::formatCount(run->reports.front().facts.gpus)));
    if (run == session_.runs().front()) text += " (shown)";
    auto* item = new QListWidgetItem(text, this);
    item->setToolTip(QString::fromStdString(run->source));
    QFont font = item->font();
    font.setBold(run == session_.runs().front());
    item->setFont(font);
  }
  if (session_.runs().empty()) {
    auto* hint = new QListWidgetItem("No run is open. Open one from the page \"Runs\".", this);
    hint->setFlags(Qt::NoItemFlags);
  }
  if (session_.baseline()) {
    auto* item = new QListWidgetItem("baseline: " + QString::fromStdString(session_.baseline()->title), this);
    item->setFlags(Qt::NoItemFlags);
  }
}

void OpenRunsPanel::keyPressEvent(QKeyEvent* event) {
  const int at = currentRow();
  if (event->key() == Qt::Key_Delete && at >= 0) {
    session_.close(static_cast<std::size_t>(at));
    return;
  }
  QListWidget::keyPressEvent(event);
}

}  // namespace vsim::gui
