#include "gui/window/command_palette.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/model/fuzzy.h"

namespace vsim::gui {
namespace {

QString keysText(const QAction& action) {
  QStringList keys;
  for (const QKeySequence& sequence : action.shortcuts())
    keys.push_back(sequence.toString(QKeySequence::NativeText));
  return keys.join(" or ");
}

}  // namespace

CommandPalette::CommandPalette(const CommandTable& commands, QWidget* parent)
    : QDialog(parent), commands_(commands), input_(new QLineEdit(this)), list_(new QListWidget(this)) {
  setWindowTitle("Commands");
  setAttribute(Qt::WA_DeleteOnClose);
  input_->setPlaceholderText("Part of a command's name");
  input_->setAccessibleName("part of a command's name");
  input_->installEventFilter(this);
  list_->setAccessibleName("commands");
  list_->setUniformItemSizes(true);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(input_);
  layout->addWidget(list_);
  resize(fontMetrics().horizontalAdvance('x') * 90, fontMetrics().height() * 24);
  connect(input_, &QLineEdit::textChanged, this, &CommandPalette::narrow);
  connect(input_, &QLineEdit::returnPressed, this, &CommandPalette::runSelected);
  connect(list_, &QListWidget::itemActivated, this, &CommandPalette::runSelected);
  narrow({});
}

void CommandPalette::narrow(const QString& pattern) {
  struct Hit {
    int score = 0;
    const CommandTable::Entry* entry = nullptr;
  };
  std::vector<Hit> hits;
  for (const CommandTable::Entry& entry : commands_.entries()) {
    if (!entry.action->isEnabled()) continue;
    const QString text = entry.group + " " + entry.command.name;
    if (const auto score = fuzzyScore(pattern.toStdString(), text.toStdString()))
      hits.push_back({*score, &entry});
  }
  std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return a.score > b.score; });
  list_->clear();
  for (const Hit& hit : hits) {
    const QString keys = keysText(*hit.entry->action);
    auto* item = new QListWidgetItem(hit.entry->group + ": " + hit.entry->command.name +
                                     (keys.isEmpty() ? QString() : "    " + keys));
    item->setToolTip(hit.entry->command.help);
    item->setData(Qt::UserRole, hit.entry->command.id);
    list_->addItem(item);
  }
  list_->setCurrentRow(0);
}

QStringList CommandPalette::shownNames() const {
  QStringList names;
  for (int i = 0; i < list_->count(); ++i) names.push_back(list_->item(i)->data(Qt::UserRole).toString());
  return names;
}

void CommandPalette::runSelected() {
  const QListWidgetItem* item = list_->currentItem();
  if (item == nullptr) return;
  const auto* entry = commands_.find(item->data(Qt::UserRole).toString());
  close();
  if (entry != nullptr) entry->action->trigger();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {  // the list moves while the keyboard stays in the input
    const int key = static_cast<QKeyEvent*>(event)->key();
    const int step = key == Qt::Key_Down       ? 1
                     : key == Qt::Key_Up       ? -1
                     : key == Qt::Key_PageDown ? 10
                     : key == Qt::Key_PageUp   ? -10
                                               : 0;
    if (step != 0 && list_->count() > 0) {
      list_->setCurrentRow(std::clamp(list_->currentRow() + step, 0, list_->count() - 1));
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
}

KeyList::KeyList(const CommandTable& commands, QWidget* parent) : QDialog(parent) {
  setWindowTitle("Keys");
  setAttribute(Qt::WA_DeleteOnClose);
  auto* table = new QTableWidget(static_cast<int>(commands.entries().size()), 3, this);
  table->setAccessibleName("keys and commands");
  table->setHorizontalHeaderLabels({"Keys", "Command", "What it does"});
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->verticalHeader()->hide();
  table->horizontalHeader()->setStretchLastSection(true);
  table->setWordWrap(false);
  int row = 0;
  for (const CommandTable::Entry& entry : commands.entries()) {
    table->setItem(row, 0, new QTableWidgetItem(keysText(*entry.action)));
    table->setItem(row, 1, new QTableWidgetItem(entry.group + ": " + entry.command.name));
    table->setItem(row++, 2, new QTableWidgetItem(entry.command.help));
  }
  table->resizeColumnsToContents();
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(table);
  resize(fontMetrics().horizontalAdvance('x') * 130, fontMetrics().height() * 40);
}

}  // namespace vsim::gui
