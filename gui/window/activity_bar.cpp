#include "gui/window/activity_bar.h"

#include <QHBoxLayout>

namespace vsim::gui {
namespace {

constexpr int kParts = 1000, kBarWidth = 160;

}  // namespace

ActivityBar::ActivityBar(QWidget* parent)
    : QWidget(parent),
      label_(new QLabel(this)),
      bar_(new QProgressBar(this)),
      cancel_(new QToolButton(this)) {
  cancel_->setText("Cancel");
  cancel_->setAccessibleName("cancel the background work");
  bar_->setAccessibleName("progress of the background work");
  bar_->setMaximumWidth(kBarWidth);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(label_);
  layout->addWidget(bar_);
  layout->addWidget(cancel_);
  connect(cancel_, &QToolButton::clicked, this, &ActivityBar::cancelled);
  hide();
}

void ActivityBar::start(const QString& what) {
  label_->setText(what);
  bar_->setRange(0, 0);  // no length known yet
  show();
}

void ActivityBar::progress(const QString& what, double fraction) {
  label_->setText(what);
  bar_->setRange(0, kParts);
  bar_->setValue(static_cast<int>(fraction * kParts));
  show();
}

void ActivityBar::finish() { hide(); }

}  // namespace vsim::gui
