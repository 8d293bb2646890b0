#pragma once

#include <QLabel>
#include <QPushButton>
#include <QWidget>

namespace vsim::gui {

/// In place of an empty table: what to do first, or why a store cannot be shown.
class StartPage : public QWidget {
  Q_OBJECT
 public:
  explicit StartPage(QWidget* parent);

  void showWelcome(const QString& storePath);
  void showProblem(const QString& storePath, const QString& problem);
  [[nodiscard]] QPushButton& example() const { return *example_; }
  [[nodiscard]] QString text() const { return title_->text() + "\n" + words_->text(); }

 signals:
  void exampleWanted();
  void largeExampleWanted();

 private:
  QLabel* title_;
  QLabel* words_;
  QPushButton* example_;
  QPushButton* large_;
};

}  // namespace vsim::gui
