#include "gui/view/memory/allocation_model.h"

#include <algorithm>

#include "gui/paint/memory_style.h"

namespace vsim::gui {

void AllocationModel::setRows(Data data, std::vector<std::uint32_t> rows) {
  beginResetModel();
  data_ = std::move(data);
  rows_ = std::move(rows);
  endResetModel();
}

core::Index AllocationModel::bufferAt(int row) const {
  if (!data_ || row < 0 || row >= rowCount()) return core::kNone;
  return data_->lifetimes.all()[rows_[static_cast<std::size_t>(row)]].buffer;
}

int AllocationModel::rowOf(core::Index buffer, std::int64_t event) const {
  if (!data_) return -1;
  std::int64_t wanted = data_->lifetimes.firstOf(buffer);
  const auto& all = data_->lifetimes.all();
  for (std::int64_t i = wanted; i >= 0; i = all[static_cast<std::size_t>(i)].nextOfBuffer)
    if (all[static_cast<std::size_t>(i)].begin <= event && all[static_cast<std::size_t>(i)].end > event)
      wanted = i;
  if (wanted < 0) return -1;
  const auto found = std::find(rows_.begin(), rows_.end(), static_cast<std::uint32_t>(wanted));
  return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

int AllocationModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}
int AllocationModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(kAllocationColumns);
}

QVariant AllocationModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole || section < 0) return {};
  if (orientation == Qt::Vertical) return section + 1;
  if (static_cast<std::size_t>(section) >= kAllocationColumns) return {};
  return QString::fromStdString(std::string(kAllocationColumnNames[static_cast<std::size_t>(section)]));
}

QVariant AllocationModel::data(const QModelIndex& index, int role) const {
  if (!data_ || index.row() < 0 || index.row() >= rowCount()) return {};
  const std::uint32_t lifetime = rows_[static_cast<std::size_t>(index.row())];
  const auto column = static_cast<AllocationColumn>(index.column());
  if (role == Qt::DisplayRole) return QString::fromStdString(allocationText(*data_, lifetime, column));
  if (role == Qt::TextAlignmentRole)
    return static_cast<int>((isNumeric(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role == Qt::DecorationRole && column == AllocationColumn::category)
    return memoryPartColor(paletteOf(session_.theme()), data_->curve.part(bufferAt(index.row())));
  return {};
}

}  // namespace vsim::gui
