#include "gui/view/runs/start_page.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

namespace vsim::gui {

StartPage::StartPage(QWidget* parent)
    : QWidget(parent),
      title_(new QLabel(this)),
      words_(new QLabel(this)),
      example_(new QPushButton("Run the example", this)),
      large_(new QPushButton("Run the 10,240-GPU example", this)) {
  QFont large = title_->font();
  large.setPointSizeF(large.pointSizeF() * 1.6);
  title_->setFont(large);
  words_->setWordWrap(true);
  words_->setTextFormat(Qt::PlainText);
  words_->setMinimumWidth(fontMetrics().horizontalAdvance('x') * 70);
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  example_->setDefault(true);
  example_->setAccessibleName("run the example");
  large_->setAccessibleName("run the example on 10,240 GPUs");
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(example_);
  buttons->addWidget(large_);
  buttons->addStretch();
  auto* column = new QVBoxLayout;
  column->addWidget(title_);
  column->addWidget(words_);
  column->addLayout(buttons);
  column->setSpacing(fontMetrics().height());
  auto* centred = new QHBoxLayout;
  centred->addStretch();
  centred->addLayout(column);
  centred->addStretch();
  auto* layout = new QVBoxLayout(this);
  layout->addStretch(1);
  layout->addLayout(centred);
  layout->addStretch(2);
  connect(example_, &QPushButton::clicked, this, &StartPage::exampleWanted);
  connect(large_, &QPushButton::clicked, this, &StartPage::largeExampleWanted);
}

void StartPage::showWelcome(const QString& storePath) {
  title_->setText("No runs yet");
  words_->setText(
      QString(
          "The example simulates one training step of a small model on four GPUs under two systems, stores "
          "it and opens it. It takes a second.\n\nOr open a scenario or a trace with Ctrl+O. `vsim run "
          "SCENARIO` in a terminal stores runs here, too.\n\nStore: %1")
          .arg(storePath));
  example_->show();
  large_->show();
}

void StartPage::showProblem(const QString& storePath, const QString& problem) {
  title_->setText("The run store cannot be shown");
  words_->setText(
      QString("%1\n\nStore: %2\n\nAnother one is opened with File > Open another run store. The page "
              "follows when the file is repaired.")
          .arg(problem, storePath));
  example_->hide();
  large_->hide();
}

}  // namespace vsim::gui
