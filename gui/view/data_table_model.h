#pragma once

#include <QAbstractTableModel>
#include <functional>
#include <memory>
#include <vector>

#include "gui/model/data_table.h"
#include "gui/session/background.h"

namespace vsim::gui {

/// A DataTable for Qt's table view: no object per row, sorted by value where columns are numeric. Tables of
/// more than kSortedAtOnce rows are sorted in the background; until then they stay as they are.
class DataTableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  explicit DataTableModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  void setTable(DataTable table);
  [[nodiscard]] const DataTable& table() const { return *table_; }
  static constexpr std::size_t kSortedAtOnce = 20'000;
  [[nodiscard]] bool sorting() const { return sorting_.busy(); }
  /// Row of the table that is shown as row number `row`.
  [[nodiscard]] std::size_t sourceRow(int row) const { return order_[static_cast<std::size_t>(row)]; }
  /// What is marked or told besides: colours and tips by source row and column. May be empty.
  using Extra = std::function<QVariant(std::size_t row, int column, int role)>;
  void setExtra(Extra extra) { extra_ = std::move(extra); }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  [[nodiscard]] bool numeric(std::size_t column) const {
    return column < table_->numeric.size() && table_->numeric[column];
  }
  void setOrder(std::vector<std::size_t> order);

  std::shared_ptr<const DataTable> table_ = std::make_shared<const DataTable>();  // shared with the job
  std::vector<std::size_t> order_;
  Extra extra_;
  Background sorting_;
};

}  // namespace vsim::gui
