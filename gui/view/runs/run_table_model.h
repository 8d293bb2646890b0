#pragma once

#include <QAbstractTableModel>

#include "gui/model/run_table.h"

namespace vsim::gui {

/// RunTable for Qt's table view: no object per row.
class RunTableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  explicit RunTableModel(QObject* parent) : QAbstractTableModel(parent) {}

  void setRows(std::vector<traces::RunSummary> rows);
  void setFilter(const QString& filter);
  [[nodiscard]] const RunTable& table() const { return table_; }
  /// First row of that run; -1: it is not shown.
  [[nodiscard]] int rowOf(std::int64_t run) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  RunTable table_;
};

}  // namespace vsim::gui
