#pragma once

#include <QPlainTextEdit>
#include <map>

namespace vsim::gui {

/// Text with line numbers and marks on wrong lines.
class TextEditor : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit TextEditor(QWidget* parent);

  /// Problems by line, counted from 1: marked at the number, and told when the mouse rests on the line.
  void setMarks(const std::map<int, QString>& marks, const QColor& colour);
  [[nodiscard]] const std::map<int, QString>& marks() const { return marks_; }
  void goTo(int line, int column);
  /// Exchanges only what differs, so that the cursor and Undo stay.
  void changeTo(const QString& text);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  friend class LineNumbers;
  void paintNumbers(QPaintEvent* event);
  [[nodiscard]] int numbersWidth() const;
  void layOutNumbers();
  [[nodiscard]] QString markAt(const QPoint& position) const;

  QWidget* numbers_;
  std::map<int, QString> marks_;
  QColor markColour_;
};

}  // namespace vsim::gui
