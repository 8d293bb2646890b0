#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QTableView>

#include "gui/session/background.h"
#include "gui/view/memory/allocation_model.h"

namespace vsim::gui {

/// All allocations: filter, sort, select. Lists are made in the background.
class AllocationsPanel : public QWidget {
  Q_OBJECT
 public:
  AllocationsPanel(Session& session, QWidget* parent);
  void setData(AllocationModel::Data data);
  /// The instant of the other panels: which stay of a buffer is meant.
  void setInstant(std::int64_t event) { instant_ = event; }
  void focusFilter();
  [[nodiscard]] bool busy() const { return job_.busy(); }
  [[nodiscard]] const AllocationModel& model() const { return *model_; }
  /// What is listed, and in which order.
  [[nodiscard]] AllocationQuery query() const;

 signals:
  void listed();

 private:
  void list();
  void showSelection();

  Session& session_;
  AllocationModel::Data data_;
  AllocationModel* model_;
  QLineEdit* filter_;
  QLabel* count_;
  QTableView* table_;
  AllocationQuery query_;
  std::int64_t instant_ = -1;
  bool following_ = false;  // the table changes because the session did
  Background job_;
};

}  // namespace vsim::gui
