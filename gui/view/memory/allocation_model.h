#pragma once

#include <QAbstractTableModel>
#include <memory>

#include "gui/model/allocation_list.h"
#include "gui/session/session.h"

namespace vsim::gui {

/// A list of allocations as a table that makes its cells when they are shown.
class AllocationModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using Data = std::shared_ptr<const MemoryData>;  // shared with background jobs

  AllocationModel(Session& session, QObject* parent) : QAbstractTableModel(parent), session_(session) {}
  void setRows(Data data, std::vector<std::uint32_t> rows);
  [[nodiscard]] const std::vector<std::uint32_t>& rows() const { return rows_; }
  [[nodiscard]] core::Index bufferAt(int row) const;
  /// First row of the buffer, that of the lifetime at `event` if there is one; -1: not listed.
  [[nodiscard]] int rowOf(core::Index buffer, std::int64_t event) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override {
    emit sortRequested(column, order == Qt::DescendingOrder);
  }

 signals:
  void sortRequested(int column, bool descending);

 private:
  Session& session_;
  Data data_;
  std::vector<std::uint32_t> rows_;
};

}  // namespace vsim::gui
