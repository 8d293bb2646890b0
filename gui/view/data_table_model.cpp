#include "gui/view/data_table_model.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

namespace vsim::gui {

namespace {

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
  table_ = std::move(table);
  order_.resize(table_.rows.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  endResetModel();
}

int DataTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int DataTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.header.size());
}

QVariant DataTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const std::size_t row = sourceRow(index.row());
  const auto column = static_cast<std::size_t>(index.column());
  if (extra_)
    if (const QVariant value = extra_(row, index.column(), role); value.isValid()) return value;
  if (role == Qt::DisplayRole && column < table_.rows[row].size()) {
    const std::string& cell = table_.rows[row][column];
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
  return QString::fromStdString(table_.header[static_cast<std::size_t>(section)]);
}

void DataTableModel::sort(int column, Qt::SortOrder order) {
  emit layoutAboutToBeChanged();
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  if (column >= 0) {
    const auto c = static_cast<std::size_t>(column);
    std::vector<double> values;
    if (numeric(c))
      for (const auto& row : table_.rows) {
        char* end = nullptr;
        const double value = c < row.size() ? std::strtod(row[c].c_str(), &end) : 0;
        const bool none = c >= row.size() || end == row[c].c_str();
        values.push_back(none ? -std::numeric_limits<double>::infinity() : value);
      }
    const auto less = [&](std::size_t a, std::size_t b) {
      if (!values.empty()) return values[a] < values[b];
      const auto cell = [&](std::size_t row) {
        return c < table_.rows[row].size() ? table_.rows[row][c] : std::string();
      };
      return cell(a) < cell(b);
    };
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return order == Qt::AscendingOrder ? less(a, b) : less(b, a);
    });
  }
  emit layoutChanged();
}

}  // namespace vsim::gui
