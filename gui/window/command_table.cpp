#include "gui/window/command_table.h"

#include <QMenu>

namespace vsim::gui {
namespace {

QString shownName(const QString& name) { return QString(name).replace('&', "&&"); }

}  // namespace

QList<QKeySequence> sequencesOf(const QString& keys) {
  QList<QKeySequence> result;
  // "Ctrl+;" and a lone ";" do not occur: the semicolon is the separator.
  QString text = keys;
  if (!text.contains(';')) text.replace(", ", ";");
  for (const QString& part : text.split(';', Qt::SkipEmptyParts)) {
    const QKeySequence sequence(part.trimmed(), QKeySequence::PortableText);
    if (!sequence.isEmpty()) result.push_back(sequence);
  }
  return result;
}

CommandTable::CommandTable(QWidget* window) : QObject(window), window_(window) {}

void CommandTable::add(const QString& group, const QString& page, const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    QList<QKeySequence> keys;
    for (const QKeySequence& sequence : sequencesOf(command.keys)) {
      bool taken = false;
      for (const Entry& other : entries_)
        if (other.page.isEmpty() || page.isEmpty() || other.page == page)
          taken = taken || other.action->shortcuts().contains(sequence);
      if (!taken) keys.push_back(sequence);
    }
    auto* action = new QAction(shownName(command.name), this);
    action->setObjectName(command.id);
    action->setShortcuts(keys);
    action->setStatusTip(command.help);
    action->setToolTip(command.help);
    connect(action, &QAction::triggered, this, [run = command.run] {
      if (run) run();
    });
    window_->addAction(action);
    entries_.push_back({command, group, page, action});
  }
}

const CommandTable::Entry* CommandTable::find(const QString& id) const {
  for (const Entry& entry : entries_)
    if (entry.command.id == id) return &entry;
  return nullptr;
}

const CommandTable::Entry* CommandTable::at(const QKeySequence& keys) const {
  for (const Entry& entry : entries_)
    if (entry.action->isEnabled() && entry.action->shortcuts().contains(keys)) return &entry;
  return nullptr;
}

void CommandTable::setPage(const QString& page) {
  for (const Entry& entry : entries_) entry.action->setEnabled(entry.page.isEmpty() || entry.page == page);
}

void CommandTable::fill(QMenuBar& bar) const {
  std::map<QString, QMenu*> menus;
  for (const Entry& entry : entries_) {
    QMenu*& menu = menus[entry.group];
    if (menu == nullptr) {
      menu = bar.addMenu(entry.group);
      menu->setToolTipsVisible(true);
      menu->setObjectName("menu." + entry.group);
    }
    menu->addAction(entry.action);
  }
}

}  // namespace vsim::gui
