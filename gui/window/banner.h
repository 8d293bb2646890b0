#pragma once

#include <QFrame>
#include <QLabel>
#include <QStringList>

namespace vsim::gui {

/// A message above the pages that stays until it is closed: what could not be done, and why.
class Banner : public QFrame {
  Q_OBJECT
 public:
  explicit Banner(QWidget* parent);
  void show(const QString& title, const QStringList& lines);
  [[nodiscard]] QString text() const { return label_->text(); }

 private:
  QLabel* label_;
};

}  // namespace vsim::gui
