#include "gui/window/banner.h"

#include <QHBoxLayout>
#include <QToolButton>

namespace vsim::gui {
namespace {

constexpr int kMaxLines = 8;

}  // namespace

Banner::Banner(QWidget* parent) : QFrame(parent), label_(new QLabel(this)) {
  setFrameShape(QFrame::StyledPanel);
  setAccessibleName("message");
  auto* close = new QToolButton(this);
  close->setText("×");
  close->setToolTip("Close the message");
  close->setAccessibleName("close the message");
  close->setAutoRaise(true);
  label_->setWordWrap(true);
  label_->setTextFormat(Qt::PlainText);
  label_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* layout = new QHBoxLayout(this);
  layout->addWidget(close, 0, Qt::AlignTop);
  layout->addWidget(label_, 1);
  connect(close, &QToolButton::clicked, this, &QFrame::hide);
  hide();
}

void Banner::show(const QString& title, const QStringList& lines) {
  QStringList shown{title};
  for (const QString& line : lines.mid(0, kMaxLines)) shown.push_back(line);
  if (lines.size() > kMaxLines) shown.push_back(QString("and %1 more").arg(lines.size() - kMaxLines));
  label_->setText(shown.join('\n'));
  label_->setAccessibleName(shown.join(", "));
  QFrame::show();
}

}  // namespace vsim::gui
