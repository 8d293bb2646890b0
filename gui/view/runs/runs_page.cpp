#include "gui/view/runs/runs_page.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QProxyStyle>
#include <QSignalBlocker>
#include <QStyleOption>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/paint/palette.h"

namespace vsim::gui {
namespace {

constexpr int kPadding = 6;  // pixels between a column's text and its edge

/// Numbers end where the next column's words begin: both keep off the edge.
class PaddedCells : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem cell(option);
    initStyleOption(&cell, index);
    const QStyle* style = cell.widget != nullptr ? cell.widget->style() : QApplication::style();
    style->drawPrimitive(QStyle::PE_PanelItemViewItem, &cell, painter, cell.widget);
    cell = option;
    cell.rect.adjust(kPadding, 0, -kPadding, 0);
    QStyledItemDelegate::paint(painter, cell, index);
  }
};

/// Titles stand over the text of their columns.
class PaddedHeader : public QProxyStyle {
 public:
  void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                   const QWidget* widget) const override {
    const auto* header = qstyleoption_cast<const QStyleOptionHeader*>(option);
    if (element != CE_HeaderLabel || header == nullptr)
      return QProxyStyle::drawControl(element, option, painter, widget);
    QStyleOptionHeader padded(*header);
    padded.rect.adjust(kPadding, 0, -kPadding, 0);
    QProxyStyle::drawControl(element, &padded, painter, widget);
  }
};

/// Usual content of each column, in characters: measuring 10,000 rows would take long.
constexpr int kWidths[kRunColumns] = {7, 16, 25, 14, 7, 9, 8, 9, 7, 12, 8, 6};

}  // namespace

RunsPage::RunsPage(Session& session, QWidget* parent)
    : View(session, parent),
      model_(new RunTableModel(this)),
      table_(new QTableView(this)),
      filter_(new QLineEdit(this)),
      tags_(new QLineEdit(this)),
      note_(new QLineEdit(this)),
      stateLabel_(new QLabel(this)),
      hint_(new QLabel(this)),
      start_(new StartPage(this)),
      pages_(new QStackedWidget(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(pages_);
  pages_->addWidget(makeTablePage());
  pages_->addWidget(start_);
  pages_->setCurrentIndex(0);
  setFocusProxy(table_);
  connect(&store_, &StoreAccess::contentRead, this, &RunsPage::showContent);
  connect(&store_, &StoreAccess::failed, this,
          [this](const QString& problem) { emit this->session().message(problem); });
  connect(&session, &Session::storePathChanged, this, [this] {
    deleted_.clear();
    read_ = false;
    store_.setPath(this->session().storePath());
  });
  connect(&session, &Session::storeWritten, &store_, &StoreAccess::refresh);
  connect(&session, &Session::runsChanged, this, &RunsPage::requestBaseline);
  connect(start_, &StartPage::exampleWanted, this, [this] { runExample("tiny"); });
  connect(start_, &StartPage::largeExampleWanted, this, [this] { runExample("moe_10k"); });
  store_.setPath(session.storePath());
}

QWidget* RunsPage::makeTablePage() {
  auto* page = new QWidget(this);
  filter_->setPlaceholderText(
      "Filter: words, or column:value such as gpus:>1000 tag:paper status:\"out of memory\"");
  filter_->setAccessibleName("filter of the runs");
  filter_->setClearButtonEnabled(true);
  tags_->setAccessibleName("tags of the run");
  tags_->setPlaceholderText("words that find the run again");
  note_->setAccessibleName("note on the run");
  table_->setAccessibleName("runs");
  table_->setObjectName("runs");  // its columns are remembered
  table_->setModel(model_);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  table_->setAlternatingRowColors(true);
  table_->setShowGrid(false);
  table_->setItemDelegate(new PaddedCells(table_));
  table_->setWordWrap(false);
  table_->setTabKeyNavigation(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  for (int c = 0; c < static_cast<int>(kRunColumns); ++c)
    table_->setColumnWidth(c, fontMetrics().horizontalAdvance('0') * kWidths[c] + 2 * kPadding + 6);
  table_->horizontalHeader()->setStretchLastSection(true);
  auto* padded = new PaddedHeader;
  padded->setParent(table_);
  table_->horizontalHeader()->setStyle(padded);
  table_->horizontalHeader()->setSortIndicator(0, Qt::DescendingOrder);
  table_->setSortingEnabled(true);
  auto* top = new QHBoxLayout;
  top->addWidget(filter_, 1);
  top->addWidget(stateLabel_);
  auto* marks = new QHBoxLayout;
  marks->addWidget(new QLabel("Tags", page));
  marks->addWidget(tags_, 1);
  marks->addWidget(new QLabel("Note", page));
  marks->addWidget(note_, 2);
  marks->addWidget(hint_);
  auto* layout = new QVBoxLayout(page);
  layout->addLayout(top);
  layout->addWidget(table_, 1);
  layout->addLayout(marks);
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
    model_->setFilter(text);
    showCounts();
    showSelection();
  });
  connect(filter_, &QLineEdit::returnPressed, this, [this] {
    table_->setFocus();
    if (!table_->currentIndex().isValid() && model_->rowCount() > 0) table_->selectRow(0);
  });
  connect(table_, &QTableView::activated, this, &RunsPage::openCurrent);  // Enter and double click
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &RunsPage::showSelection);
  connect(tags_, &QLineEdit::editingFinished, this, &RunsPage::saveTags);
  connect(note_, &QLineEdit::editingFinished, this, &RunsPage::saveNote);
  return page;
}

void RunsPage::showContent(const StoreContent& content) {
  read_ = true;
  writable_ = content.writable;
  const traces::RunSummary* current = currentRow();
  const std::int64_t kept = current == nullptr ? 0 : current->id;
  const QString path = QString::fromStdString(store_.path());
  model_->setRows(content.rows);
  if (content.state == StoreContent::State::failed)
    start_->showProblem(path, QString::fromStdString(content.problem));
  else if (content.state != StoreContent::State::filled)
    start_->showWelcome(path);
  pages_->setCurrentIndex(content.state == StoreContent::State::filled ? 0 : 1);
  hint_->setText(writable_ ? QString() : "read-only store: marks cannot be kept");
  tags_->setReadOnly(!writable_);
  note_->setReadOnly(!writable_);
  const int row = model_->rowOf(kept);
  if (model_->rowCount() > 0) table_->selectRow(std::max(row, 0));
  showCounts();
  showSelection();
  requestBaseline();
}

void RunsPage::showCounts() {
  const auto shown = model_->table().shown(), all = model_->table().all().size();
  stateLabel_->setText(shown == all ? QString("%1 reports").arg(all)
                                    : QString("%1 of %2 reports").arg(shown).arg(all));
}

const traces::RunSummary* RunsPage::currentRow() const {
  const QModelIndex index = table_->currentIndex();
  if (!index.isValid() || static_cast<std::size_t>(index.row()) >= model_->table().shown()) return nullptr;
  return &model_->table().at(static_cast<std::size_t>(index.row()));
}

void RunsPage::showSelection() {
  const traces::RunSummary* row = currentRow();
  // The table is read anew while somebody types: what is typed stays.
  const bool typing = tags_->isModified() || note_->isModified();
  if (row != nullptr && row->id == marked_ && typing) return;
  marked_ = row == nullptr ? 0 : row->id;
  const QSignalBlocker quietTags(tags_), quietNote(note_);
  tags_->setEnabled(row != nullptr);
  note_->setEnabled(row != nullptr);
  tags_->setText(row == nullptr ? QString() : QString::fromStdString(row->tags));
  note_->setText(row == nullptr ? QString() : QString::fromStdString(row->note));
  tags_->setModified(false);
  note_->setModified(false);
}

std::vector<std::int64_t> RunsPage::selectedRuns() const {
  std::vector<std::int64_t> ids;
  for (const QModelIndex& index : table_->selectionModel()->selectedRows()) {
    const std::int64_t id = model_->table().at(static_cast<std::size_t>(index.row())).id;
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

void RunsPage::requestBaseline() {
  // The pinned run is loaded once there is something to measure against it.
  const auto& rows = model_->table().all();
  const auto pinned = std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row.pinned; });
  const Session::Run baseline = session().baseline();
  if (pinned == rows.end()) {
    if (baseline && read_) session().setBaseline(nullptr);
    return;
  }
  if (session().runs().empty() || (baseline && baseline->id == pinned->id)) return;
  if (requested_ == pinned->id) return;
  requested_ = pinned->id;
  session().requestOpen({.path = store_.path(), .id = pinned->id}, OpenAs::baseline);
}

void RunsPage::drawExport(QPainter& painter, QSize size) {
  const Palette& colours = paletteOf(session().theme());
  painter.fillRect(QRect(QPoint(0, 0), size), colours.background);
  const QFontMetrics metrics(painter.font());
  const int line = metrics.height() + 6, unit = metrics.horizontalAdvance('0');
  const auto draw = [&](int row, int column, int x, int width, const QString& text) {
    const bool right = isNumeric(static_cast<RunColumn>(column));
    const QRect cell(x, 8 + row * line, width - unit, line);
    painter.drawText(cell, Qt::AlignVCenter | (right ? Qt::AlignRight : Qt::AlignLeft),
                     metrics.elidedText(text, Qt::ElideRight, cell.width()));
  };
  const int rows = std::min(model_->rowCount(), (size.height() - 16) / line - 1);
  int x = unit;
  for (int column = 0; column < model_->columnCount() && x < size.width(); ++column) {
    const int width = unit * (kWidths[column] + 2);
    painter.setPen(colours.mutedText);
    draw(0, column, x, width, columnTitle(static_cast<RunColumn>(column)));
    painter.setPen(colours.text);
    for (int row = 0; row < rows; ++row)
      draw(row + 1, column, x, width, model_->data(model_->index(row, column), Qt::DisplayRole).toString());
    x += width;
  }
  painter.setPen(colours.grid);
  painter.drawLine(unit, 8 + line, size.width() - unit, 8 + line);
}

}  // namespace vsim::gui
