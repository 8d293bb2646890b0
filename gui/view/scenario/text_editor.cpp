#include "gui/view/scenario/text_editor.h"

#include <QFontDatabase>
#include <QHelpEvent>
#include <QPainter>
#include <QScrollBar>
#include <QTextBlock>
#include <QToolTip>
#include <algorithm>

namespace vsim::gui {

/// The strip left of the text.
class LineNumbers : public QWidget {
 public:
  explicit LineNumbers(TextEditor* editor) : QWidget(editor), editor_(editor) {}

 protected:
  void paintEvent(QPaintEvent* event) override { editor_->paintNumbers(event); }

 private:
  TextEditor* editor_;
};

TextEditor::TextEditor(QWidget* parent) : QPlainTextEdit(parent), numbers_(new LineNumbers(this)) {
  setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  setLineWrapMode(QPlainTextEdit::NoWrap);
  setTabChangesFocus(true);  // YAML has no tabs; Tab leaves the text for people without a mouse
  connect(this, &QPlainTextEdit::blockCountChanged, this, &TextEditor::layOutNumbers);
  connect(this, &QPlainTextEdit::updateRequest, numbers_, [this](const QRect& part, int dy) {
    if (dy != 0)
      numbers_->scroll(0, dy);
    else
      numbers_->update(0, part.y(), numbers_->width(), part.height());
  });
  layOutNumbers();
}

int TextEditor::numbersWidth() const {
  const int digits = static_cast<int>(QString::number(std::max(1, blockCount())).size());
  return fontMetrics().horizontalAdvance('9') * (std::max(digits, 2) + 3);
}

void TextEditor::layOutNumbers() {
  setViewportMargins(numbersWidth(), 0, 0, 0);
  const QRect inside = contentsRect();
  numbers_->setGeometry(inside.left(), inside.top(), numbersWidth(), inside.height());
}

void TextEditor::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  layOutNumbers();
}

void TextEditor::paintNumbers(QPaintEvent* event) {
  QPainter painter(numbers_);
  painter.fillRect(event->rect(), palette().color(QPalette::Window));
  const int unit = fontMetrics().horizontalAdvance('9');
  QTextBlock block = firstVisibleBlock();
  double top = blockBoundingGeometry(block).translated(contentOffset()).top();
  while (block.isValid() && top <= event->rect().bottom()) {
    const double height = blockBoundingRect(block).height();
    const QRect line(0, static_cast<int>(top), numbers_->width() - unit, static_cast<int>(height));
    const bool wrong = marks_.contains(block.blockNumber() + 1);
    painter.setPen(wrong ? markColour_ : palette().color(QPalette::PlaceholderText));
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, QString::number(block.blockNumber() + 1));
    if (wrong) painter.drawText(line.adjusted(unit / 2, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, "!");
    top += height;
    block = block.next();
  }
}

void TextEditor::setMarks(const std::map<int, QString>& marks, const QColor& colour) {
  marks_ = marks;
  markColour_ = colour;
  QList<QTextEdit::ExtraSelection> selections;
  for (const auto& [line, text] : marks) {
    const QTextBlock block = document()->findBlockByNumber(line - 1);
    if (!block.isValid()) continue;
    QTextEdit::ExtraSelection selection;
    selection.cursor = QTextCursor(block);
    QColor background = colour;
    background.setAlpha(40);
    selection.format.setBackground(background);
    selection.format.setProperty(QTextFormat::FullWidthSelection, true);
    selections.push_back(selection);
  }
  setExtraSelections(selections);
  numbers_->update();
}

QString TextEditor::markAt(const QPoint& position) const {
  const int line = cursorForPosition(position).blockNumber() + 1;
  const auto mark = marks_.find(line);
  return mark == marks_.end() ? QString() : mark->second;
}

bool TextEditor::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), markAt(viewport()->mapFrom(this, help->pos())), this);
    return true;
  }
  if (event->type() == QEvent::FontChange) layOutNumbers();
  return QPlainTextEdit::event(event);
}

void TextEditor::goTo(int line, int column) {
  const QTextBlock block = document()->findBlockByNumber(std::max(line, 1) - 1);
  if (!block.isValid()) return;
  QTextCursor cursor(block);
  cursor.movePosition(QTextCursor::Right, QTextCursor::MoveAnchor,
                      std::clamp(column - 1, 0, static_cast<int>(block.length()) - 1));
  setTextCursor(cursor);
  centerCursor();
  setFocus();
}

void TextEditor::changeTo(const QString& text) {
  const QString old = toPlainText();
  if (old == text) return;
  qsizetype begin = 0, oldEnd = old.size(), newEnd = text.size();
  while (begin < oldEnd && begin < newEnd && old[begin] == text[begin]) ++begin;
  while (oldEnd > begin && newEnd > begin && old[oldEnd - 1] == text[newEnd - 1]) --oldEnd, --newEnd;
  QTextCursor cursor(document());
  cursor.setPosition(static_cast<int>(begin));
  cursor.setPosition(static_cast<int>(oldEnd), QTextCursor::KeepAnchor);
  cursor.insertText(text.mid(begin, newEnd - begin));
}

}  // namespace vsim::gui
