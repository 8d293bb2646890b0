#include "gui/export/export_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QShortcut>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/export/export_commands.h"

namespace vsim::gui {

ExportDialog::ExportDialog(View& view, Session& session, QWidget* parent)
    : QDialog(parent), view_(&view), session_(session) {
  setWindowTitle("Export \"" + view.title() + "\"");
  setAttribute(Qt::WA_DeleteOnClose);
  format_ = new QComboBox(this);
  format_->addItems({"PNG picture", "SVG drawing", "CSV table"});
  scale_ = new QComboBox(this);
  for (const int factor : {1, 2, 4}) scale_->addItem(QString("%1x").arg(factor), factor);
  scale_->setCurrentIndex(1);
  const auto side = [this](int value) {
    auto* box = new QSpinBox(this);
    box->setRange(200, 8000);
    box->setValue(value);
    box->setSuffix(" px");
    return box;
  };
  width_ = side(std::max(640, view.width()));
  height_ = side(std::max(400, view.height()));
  file_ = new QLineEdit(this);
  auto* browse = new QPushButton("&Browse...", this);
  problem_ = new QLabel(this);
  problem_->setWordWrap(true);
  auto* size = new QHBoxLayout;
  size->addWidget(width_);
  size->addWidget(new QLabel("x", this));
  size->addWidget(height_);
  auto* file = new QHBoxLayout;
  file->addWidget(file_, 1);
  file->addWidget(browse);
  auto* form = new QFormLayout;
  form->addRow("&Format", format_);
  form->addRow("&Scale", scale_);
  form->addRow("Size", size);
  form->addRow("File", file);
  buttons_ = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel, this);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addWidget(problem_);
  layout->addWidget(buttons_);
  for (const auto& [widget, name] : {std::pair<QWidget*, const char*>{format_, "format"},
                                     {scale_, "scale"},
                                     {width_, "width"},
                                     {height_, "height"},
                                     {file_, "file"},
                                     {browse, "browse"},
                                     {problem_, "problem"}})
    widget->setAccessibleName(name);
  connect(format_, &QComboBox::currentIndexChanged, this, &ExportDialog::formatChanged);
  connect(browse, &QPushButton::clicked, this, &ExportDialog::choose);
  connect(buttons_, &QDialogButtonBox::accepted, this, &ExportDialog::accept);
  connect(buttons_, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(&writing_, &Background::busyChanged, this,
          [this](bool busy) { buttons_->button(QDialogButtonBox::Save)->setEnabled(!busy); });
  connect(&writing_, &Background::failed, problem_, &QLabel::setText);
  formatChanged();
  setMinimumWidth(460);
}

ExportOptions ExportDialog::options() const {
  return {.format = static_cast<ExportFormat>(format_->currentIndex()),
          .size = {width_->value(), height_->value()},
          .scale = scale_->currentData().toInt()};
}

void ExportDialog::formatChanged() {
  const ExportFormat format = options().format;
  scale_->setEnabled(format == ExportFormat::png);
  width_->setEnabled(format != ExportFormat::csv);
  height_->setEnabled(format != ExportFormat::csv);
  if (!view_) return;
  const QString folder = file_->text().isEmpty() ? QDir::currentPath() : QFileInfo(file_->text()).path();
  file_->setText(folder + "/" + suggestedFileName(*view_, session_, format));
}

void ExportDialog::choose() {
  auto* dialog = new QFileDialog(this, "Export to", QFileInfo(file_->text()).path());
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setOption(QFileDialog::DontConfirmOverwrite, false);
  dialog->selectFile(QFileInfo(file_->text()).fileName());
  connect(dialog, &QFileDialog::fileSelected, file_, &QLineEdit::setText);
  dialog->open();
}

void ExportDialog::accept() {
  if (!view_) return reject();
  if (writing_.busy()) return;
  const std::string path = file_->text().toStdString();
  if (options().format == ExportFormat::csv) return writeCsv(path);
  written(exportView(*view_, session_, options(), path), path);
}

void ExportDialog::writeCsv(const std::string& path) {
  problem_->setText("Writing the table...");
  writing_.start<core::Result<void>>(
      [job = view_->tableJob(), path](const Background::Cancelled& cancelled) -> core::Result<void> {
        const DataTable table = job(cancelled);
        if (cancelled) return core::fail("cancelled");
        return writeTable(table, path);
      },
      [this, path](const core::Result<void>& done) { written(done, path); });
}

void ExportDialog::written(const core::Result<void>& done, const std::string& path) {
  if (!done) return problem_->setText(QString::fromStdString(done.error().text()));
  emit session_.message("Written: " + QString::fromStdString(path));
  QDialog::accept();
}

TableDialog::TableDialog(const View& view, QWidget* parent) : QDialog(parent) {
  setWindowTitle(view.title() + " as table");
  setAttribute(Qt::WA_DeleteOnClose);
  auto* model = model_ = new DataTableModel(this);
  auto* count = new QLabel("Making the table...", this);
  auto* table = new QTableView(this);
  table->setModel(model);
  table->setAccessibleName(windowTitle());
  table->setSortingEnabled(true);
  table->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  table->setAlternatingRowColors(true);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 6);
  table->horizontalHeader()->setResizeContentsPrecision(200);  // of a million rows
  making_.start<DataTable>(view.tableJob(), [model, table, count](DataTable rows) {
    model->setTable(std::move(rows));
    table->resizeColumnsToContents();
    count->setText(QString("%1 rows").arg(model->rowCount()));
  });
  connect(&making_, &Background::failed, count, &QLabel::setText);
  auto* copy = new QShortcut(QKeySequence::Copy, table);
  connect(copy, &QShortcut::activated, table, [table, model] {
    QStringList lines;
    QModelIndexList chosen = table->selectionModel()->selectedIndexes();
    std::sort(chosen.begin(), chosen.end());
    int row = -1;
    for (const QModelIndex& cell : chosen) {
      const QString text = model->data(cell, Qt::DisplayRole).toString();
      if (cell.row() == row)
        lines.back() += "\t" + text;
      else
        lines.push_back(text);
      row = cell.row();
    }
    QApplication::clipboard()->setText(lines.join('\n'));
  });
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(count);
  layout->addWidget(table, 1);
  resize(820, 520);
}

std::vector<Command> exportCommands(std::function<View*()> current, Session& session, QWidget* window) {
  Session* const of = &session;
  return {{"file.export", "Export view...", "Ctrl+E", "Writes what is shown as PNG, SVG or CSV.",
           [current, of, window] {
             if (View* view = current()) (new ExportDialog(*view, *of, window))->show();
           }},
          {"file.table", "Show as table", "Ctrl+T", "The data behind the page, as rows.", [current, window] {
             if (const View* view = current()) (new TableDialog(*view, window))->show();
           }}};
}

}  // namespace vsim::gui
