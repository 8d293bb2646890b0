#pragma once

#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QSpinBox>

#include "gui/export/export.h"
#include "gui/session/background.h"
#include "gui/view/data_table_model.h"

namespace vsim::gui {

/// Asks for format, size and file, and writes; tables in the background. Not a modal loop: the window's
/// events go on.
class ExportDialog : public QDialog {
  Q_OBJECT
 public:
  ExportDialog(View& view, Session& session, QWidget* parent);

  // For tests.
  [[nodiscard]] QLineEdit& file() const { return *file_; }
  [[nodiscard]] QComboBox& format() const { return *format_; }
  [[nodiscard]] QComboBox& scale() const { return *scale_; }
  [[nodiscard]] QString problem() const { return problem_->text(); }
  [[nodiscard]] ExportOptions options() const;

 public slots:
  void accept() override;

 private:
  void formatChanged();
  void choose();
  void writeCsv(const std::string& path);
  void written(const core::Result<void>& done, const std::string& path);

  QPointer<View> view_;
  Session& session_;
  QComboBox *format_, *scale_;
  QSpinBox *width_, *height_;
  QLineEdit* file_;
  QLabel* problem_;
  QDialogButtonBox* buttons_;
  Background writing_;
};

/// The data behind a view: all rows, made in the background, sorted by any column, copied with Ctrl+C.
class TableDialog : public QDialog {
  Q_OBJECT
 public:
  TableDialog(const View& view, QWidget* parent);
  /// -1: they are being made.
  [[nodiscard]] int rows() const { return making_.busy() ? -1 : model_->rowCount(); }

 private:
  DataTableModel* model_;
  Background making_;
};

}  // namespace vsim::gui
