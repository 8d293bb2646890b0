#pragma once

#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QSpinBox>

#include "gui/export/export.h"

namespace vsim::gui {

/// Asks for format, size and file, and writes. Not a modal loop: the window's events go on.
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

  QPointer<View> view_;
  Session& session_;
  QComboBox *format_, *scale_;
  QSpinBox *width_, *height_;
  QLineEdit* file_;
  QLabel* problem_;
};

/// The data behind a view: all rows, sorted by any column, copied with Ctrl+C.
class TableDialog : public QDialog {
  Q_OBJECT
 public:
  TableDialog(const View& view, QWidget* parent);
  [[nodiscard]] int rows() const { return rows_; }

 private:
  int rows_ = 0;
};

}  // namespace vsim::gui
