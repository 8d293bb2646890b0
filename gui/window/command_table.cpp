#include "gui/window/command_table.h"

#include <QMenu>
#include <algorithm>

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
      const bool taken = std::any_of(entries_.begin(), entries_.end(), [&](const Entry& other) {
        return other.page == page && other.keys.contains(sequence);
      });
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
    entries_.push_back({command, group, page, action, keys});
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
  QList<QKeySequence> ofPage;
  for (const Entry& entry : entries_)
    if (!entry.page.isEmpty() && entry.page == page) ofPage += entry.keys;
  for (const Entry& entry : entries_) {
    entry.action->setEnabled(entry.page.isEmpty() || entry.page == page);
    if (!entry.page.isEmpty()) continue;
    QList<QKeySequence> keys = entry.keys;
    keys.removeIf([&](const QKeySequence& sequence) { return ofPage.contains(sequence); });
    entry.action->setShortcuts(keys);
  }
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
