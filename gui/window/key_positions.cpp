#include "gui/window/key_positions.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTextEdit>

namespace vsim::gui {
namespace {

bool isOneOfFour(int key) {
  return key == Qt::Key_W || key == Qt::Key_A || key == Qt::Key_S || key == Qt::Key_D;
}

}  // namespace

KeyPositions::KeyPositions(const CommandTable& commands, QWidget* window)
    : QObject(window), commands_(commands), window_(window) {
  qApp->installEventFilter(this);
}

int KeyPositions::letterAt(quint32 scanCode) {
  switch (scanCode) {
    case 25:
      return Qt::Key_W;
    case 38:
      return Qt::Key_A;
    case 39:
      return Qt::Key_S;
    case 40:
      return Qt::Key_D;
    default:
      return 0;
  }
}

bool KeyPositions::typesText() const {
  const QWidget* focus = QApplication::focusWidget();
  return qobject_cast<const QLineEdit*>(focus) || qobject_cast<const QPlainTextEdit*>(focus) ||
         qobject_cast<const QTextEdit*>(focus) || qobject_cast<const QAbstractSpinBox*>(focus) ||
         qobject_cast<const QComboBox*>(focus);
}

bool KeyPositions::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::ShortcutOverride && event->type() != QEvent::KeyPress)
    return QObject::eventFilter(watched, event);
  auto* key = static_cast<QKeyEvent*>(event);
  const bool override = event->type() == QEvent::ShortcutOverride;
  if (override && key->nativeScanCode() == 0 && refused_ != 0 && key->key() == refused_) {
    event->accept();  // the question of before once more, now without the place
    return true;
  }
  const int letter = letterAt(key->nativeScanCode());
  const bool moved =
      key->nativeScanCode() != 0 && letter != key->key() && (letter != 0 || isOneOfFour(key->key()));
  const bool plain = (key->modifiers() & ~Qt::ShiftModifier) == Qt::NoModifier;
  const bool mine = moved && plain && !typesText() && QApplication::activeWindow() == window_;
  refused_ = override && mine ? key->key() : 0;
  if (!mine || (!override && !watched->isWidgetType())) return QObject::eventFilter(watched, event);
  if (override) {
    event->accept();  // the label's own shortcut must not fire; the press follows
    return true;
  }
  if (letter == 0) return true;
  const auto* entry = commands_.at(QKeySequence(static_cast<int>(key->modifiers().toInt()) | letter));
  if (entry != nullptr) entry->action->trigger();
  return true;
}

}  // namespace vsim::gui
