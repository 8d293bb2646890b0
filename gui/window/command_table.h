#pragma once

#include <QAction>
#include <QMenuBar>
#include <QObject>
#include <map>
#include <vector>

#include "gui/view/view.h"

namespace vsim::gui {

/// All commands as actions: menus, key list, palette and tests come from here. Belongs to the window.
class CommandTable : public QObject {
  Q_OBJECT
 public:
  struct Entry {
    Command command;
    QString group;    // menu: "File", "Timeline"
    QString page;     // key of the view it belongs to; empty: the whole window
    QAction* action;  // owned by the table
    QList<QKeySequence> keys;
  };

  explicit CommandTable(QWidget* window);

  /// `page`: key of a view, whose commands work while it is in front; empty: always. A key that is taken in
  /// the same page is left to the first; a page's keys go before the window's while it is in front.
  void add(const QString& group, const QString& page, const std::vector<Command>& commands);
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const Entry* find(const QString& id) const;
  /// The command that `keys` triggers now; null: none.
  [[nodiscard]] const Entry* at(const QKeySequence& keys) const;

  /// Enables the commands of this page, disables those of the others.
  void setPage(const QString& page);
  /// One menu a group, in order of arrival.
  void fill(QMenuBar& bar) const;

 private:
  QWidget* window_;
  std::vector<Entry> entries_;
};

/// "W; Ctrl++": what a Command's keys say, alternatives parted by ';'.
[[nodiscard]] QList<QKeySequence> sequencesOf(const QString& keys);

}  // namespace vsim::gui
