#pragma once

#include <QTableView>

#include "gui/view/data_table_model.h"

namespace vsim::gui {

/// A sortable table of rows as they come, without row numbers; `name` is for screen readers. Owned by
/// `parent`, as Qt's widgets are.
[[nodiscard]] QTableView* dataTableView(DataTableModel* model, const QString& name, QWidget* parent);

}  // namespace vsim::gui
