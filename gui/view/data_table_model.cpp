#include "gui/view/data_table_model.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

namespace vsim::gui {
namespace {

/// Rows of the table in the order of a column; -1: as they are.
std::vector<std::size_t> sortedRows(const DataTable& table, int column, Qt::SortOrder order) {
  std::vector<std::size_t> rows(table.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (column < 0) return rows;
  const auto c = static_cast<std::size_t>(column);
  std::vector<double> values;
  if (c < table.numeric.size() && table.numeric[c])
    for (const auto& row : table.rows) {
      char* end = nullptr;
      const double value = c < row.size() ? std::strtod(row[c].c_str(), &end) : 0;
      const bool none = c >= row.size() || end == row[c].c_str();
      values.push_back(none ? -std::numeric_limits<double>::infinity() : value);
    }
  static const std::string kMissing;
  const auto cell = [&](std::size_t row) -> const std::string& {
    return c < table.rows[row].size() ? table.rows[row][c] : kMissing;
  };
  const auto less = [&](std::size_t a, std::size_t b) {
    return values.empty() ? cell(a) < cell(b) : values[a] < values[b];
  };
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return order == Qt::AscendingOrder ? less(a, b) : less(b, a);
  });
  return rows;
}

/// "5637144576" as "5,637,144,576": what can be read. Anything but a plain number stays as it is.
std::string grouped(const std::string& text) {
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(text.find('.'), text.size());
  const auto digits = [](char c) { return c >= '0' && c <= '9'; };
  const auto at = [&](std::size_t i) { return text.begin() + static_cast<std::ptrdiff_t>(i); };
  if (end <= sign + 3 || !std::all_of(at(sign), at(end), digits)) return text;
  std::string result = text;
  for (std::size_t i = end - 3; i > sign; i -= std::min<std::size_t>(3, i)) result.insert(i, 1, ',');
  return result;
}

}  // namespace

void DataTableModel::setTable(DataTable table) {
  beginResetModel();
  sorting_.cancel();
  table_ = std::make_shared<const DataTable>(std::move(table));
  order_.resize(table_->rows.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  endResetModel();
}

int DataTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_->rows.size());
}

int DataTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_->header.size());
}

QVariant DataTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const std::size_t row = sourceRow(index.row());
  const auto column = static_cast<std::size_t>(index.column());
  if (extra_)
    if (const QVariant value = extra_(row, index.column(), role); value.isValid()) return value;
  if (role == Qt::DisplayRole && column < table_->rows[row].size()) {
    const std::string& cell = table_->rows[row][column];
    return QString::fromStdString(numeric(column) ? grouped(cell) : cell);
  }
  if (role == Qt::DisplayRole) return QString();
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>((numeric(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  return {};
}

QVariant DataTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role == Qt::TextAlignmentRole && orientation == Qt::Horizontal)
    return static_cast<int>((numeric(static_cast<std::size_t>(section)) ? Qt::AlignRight : Qt::AlignLeft) |
                            Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  if (orientation == Qt::Vertical) return section + 1;
  return QString::fromStdString(table_->header[static_cast<std::size_t>(section)]);
}

void DataTableModel::sort(int column, Qt::SortOrder order) {
  if (table_->rows.size() <= kSortedAtOnce) return setOrder(sortedRows(*table_, column, order));
  sorting_.start<std::vector<std::size_t>>(
      [table = table_, column, order](const Background::Cancelled&) {
        return sortedRows(*table, column, order);
      },
      [this](std::vector<std::size_t> rows) { setOrder(std::move(rows)); });
}

void DataTableModel::setOrder(std::vector<std::size_t> order) {
  sorting_.cancel();
  emit layoutAboutToBeChanged();
  order_ = std::move(order);
  emit layoutChanged();
}

}  // namespace vsim::gui
