#pragma once

#include <QLabel>
#include <QProgressBar>
#include <QToolButton>
#include <QWidget>

namespace vsim::gui {

/// What works in the background, how far it is, and a button to stop it. Hidden while nothing does.
class ActivityBar : public QWidget {
  Q_OBJECT
 public:
  explicit ActivityBar(QWidget* parent);
  void start(const QString& what);
  void progress(const QString& what, double fraction);
  void finish();
  [[nodiscard]] QToolButton& cancelButton() const { return *cancel_; }

 signals:
  void cancelled();

 private:
  QLabel* label_;
  QProgressBar* bar_;
  QToolButton* cancel_;
};

}  // namespace vsim::gui
