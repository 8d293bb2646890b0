#include "gui/view/view.h"

#include <QHeaderView>
#include <QSplitter>
#include <QTableView>

namespace vsim::gui {
namespace {

/// Tables whose columns the user arranges have a name.
QList<QTableView*> namedTables(const View& view) {
  QList<QTableView*> tables = view.findChildren<QTableView*>();
  tables.removeIf([](const QTableView* table) { return table->objectName().isEmpty(); });
  return tables;
}

/// With the number of columns: a state of other columns is another table's.
QString columnsKey(const QTableView& table) {
  const int columns = table.model() == nullptr ? 0 : table.model()->columnCount();
  return QString("columns-%1-%2").arg(table.objectName()).arg(columns);
}

}  // namespace

QVariantMap View::look() const {
  QVariantMap look;
  const auto splitters = findChildren<QSplitter*>();
  for (qsizetype i = 0; i < splitters.size(); ++i)
    look.insert(QString("splitter-%1-%2").arg(i).arg(splitters[i]->count()), splitters[i]->saveState());
  for (const QTableView* table : namedTables(*this))
    look.insert(columnsKey(*table), table->horizontalHeader()->saveState());
  return look;
}

void View::setLook(const QVariantMap& look) {
  const auto splitters = findChildren<QSplitter*>();
  for (qsizetype i = 0; i < splitters.size(); ++i)
    splitters[i]->restoreState(
        look.value(QString("splitter-%1-%2").arg(i).arg(splitters[i]->count())).toByteArray());
  for (QTableView* table : namedTables(*this)) {
    const QByteArray state = look.value(columnsKey(*table)).toByteArray();
    if (!state.isEmpty()) table->horizontalHeader()->restoreState(state);
  }
}

}  // namespace vsim::gui
