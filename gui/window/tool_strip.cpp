#include "gui/window/tool_strip.h"

#include <QLabel>
#include <QSignalBlocker>
#include <algorithm>

#include "core/base/units.h"

namespace vsim::gui {
namespace {

/// Steps of the class of ranks that takes longest; the whole first.
std::vector<TimeRange> stepRanges(const core::ExecutionLog* log) {
  std::vector<TimeRange> ranges;
  if (log == nullptr || log->ranks.empty()) return ranges;
  const auto slowest =
      std::max_element(log->ranks.begin(), log->ranks.end(), [](const auto& a, const auto& b) {
        return (a.stepEnd.empty() ? 0 : a.stepEnd.back()) < (b.stepEnd.empty() ? 0 : b.stepEnd.back());
      });
  const std::size_t count = std::min(slowest->stepBegin.size(), slowest->stepEnd.size());
  if (count == 0) return ranges;
  ranges.push_back({slowest->stepBegin.front(), slowest->stepEnd[count - 1]});
  for (std::size_t i = 0; i < count; ++i) ranges.push_back({slowest->stepBegin[i], slowest->stepEnd[i]});
  return ranges;
}

QString durationText(core::Picoseconds time) { return QString::fromStdString(core::formatTime(time)); }

}  // namespace

QString reportTitle(const core::RunReport& report) {
  QString title = QString::fromStdString(report.facts.system);
  for (const auto& [key, value] : report.facts.overrides)
    title += QString(" %1=%2").arg(QString::fromStdString(key), QString::fromStdString(value));
  return title;
}

ToolStrip::ToolStrip(Session& session, QWidget* parent)
    : QToolBar("Report and limit", parent),
      session_(session),
      reports_(new QComboBox(this)),
      steps_(new QComboBox(this)),
      limit_(new QToolButton(this)) {
  setObjectName("tools");
  setMovable(false);
  reports_->setAccessibleName("report: system and sweep point");
  reports_->setToolTip("System and sweep point that all pages show");
  reports_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  steps_->setAccessibleName("step");
  steps_->setToolTip("Zoom to a step");
  steps_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  limit_->setAccessibleName("remove the limit");
  limit_->setToolTip("Statistics count this part of the time only; click to remove the limit");
  const auto labelled = [this](const QString& text, QComboBox* box) {
    auto* label = new QLabel(text, this);
    label->setBuddy(box);
    label->setContentsMargins(10, 0, 4, 0);
    addWidget(label);
    addWidget(box);
  };
  labelled("Report", reports_);
  labelled("Zoom", steps_);
  limitAction_ = addWidget(limit_);
  connect(reports_, &QComboBox::activated, this, [this](int index) { session_.setReport(index); });
  connect(steps_, &QComboBox::activated, this, &ToolStrip::chooseStep);
  connect(limit_, &QToolButton::clicked, this, [this] { session_.setLimit(std::nullopt); });
  connect(&session, &Session::runsChanged, this, &ToolStrip::showRun);
  connect(&session, &Session::runsChanged, this, &ToolStrip::showLimit);
  connect(&session, &Session::limitChanged, this, &ToolStrip::showLimit);
  showRun();
  showLimit();
}

void ToolStrip::showRun() {
  const QSignalBlocker quietReports(reports_), quietSteps(steps_);
  reports_->clear();
  steps_->clear();
  const Session::Run run = session_.current();
  if (run)
    for (const core::RunReport& report : run->reports) reports_->addItem(reportTitle(report));
  reports_->setCurrentIndex(run ? session_.report() : -1);
  reports_->setEnabled(reports_->count() > 1);
  ranges_ = stepRanges(session_.log().get());
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const QString length = durationText(ranges_[i].length());
    steps_->addItem(i == 0 ? QString("all steps, %1").arg(length)
                           : QString("step %1, %2").arg(i - 1).arg(length));
  }
  steps_->setEnabled(steps_->count() > 0);
}

void ToolStrip::showLimit() {
  const auto limit = session_.limit();
  limitAction_->setVisible(limit.has_value());
  if (!limit) return;
  limit_->setText(
      QString("×  limit: %1 at %2").arg(durationText(limit->length()), durationText(limit->begin)));
}

void ToolStrip::chooseStep(int index) {
  if (index >= 0 && static_cast<std::size_t>(index) < ranges_.size())
    session_.setZoom(ranges_[static_cast<std::size_t>(index)]);
}

}  // namespace vsim::gui
