#include "gui/view/runs/run_table_model.h"

#include <QFont>

namespace vsim::gui {

void RunTableModel::setRows(std::vector<traces::RunSummary> rows) {
  beginResetModel();
  table_.setRows(std::move(rows));
  endResetModel();
}

void RunTableModel::setFilter(const QString& filter) {
  beginResetModel();
  table_.setFilter(filter.toStdString());
  endResetModel();
}

void RunTableModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= static_cast<int>(kRunColumns)) return;
  beginResetModel();
  table_.sort(static_cast<RunColumn>(column), order == Qt::DescendingOrder);
  endResetModel();
}

int RunTableModel::rowOf(std::int64_t run) const {
  for (std::size_t i = 0; i < table_.shown(); ++i)
    if (table_.at(i).id == run) return static_cast<int>(i);
  return -1;
}

int RunTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.shown());
}

int RunTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(kRunColumns);
}

QVariant RunTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || static_cast<std::size_t>(index.row()) >= table_.shown()) return {};
  const traces::RunSummary& row = table_.at(static_cast<std::size_t>(index.row()));
  const auto column = static_cast<RunColumn>(index.column());
  switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:
      return QString::fromStdString(cellText(row, column));
    case Qt::TextAlignmentRole:
      return QVariant::fromValue(Qt::AlignVCenter | (isNumeric(column) ? Qt::AlignRight : Qt::AlignLeft));
    case Qt::FontRole: {
      QFont font;
      font.setBold(row.pinned);
      return row.pinned ? QVariant(font) : QVariant();
    }
    default:
      return {};
  }
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= static_cast<int>(kRunColumns)) return {};
  const auto column = static_cast<RunColumn>(section);
  if (role == Qt::DisplayRole) return QString(columnTitle(column));
  if (role == Qt::ToolTipRole) return QString("Sort; filter with %1:...").arg(columnWord(column));
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue(Qt::AlignVCenter | (isNumeric(column) ? Qt::AlignRight : Qt::AlignLeft));
  return {};
}

}  // namespace vsim::gui
