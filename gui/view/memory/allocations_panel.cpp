#include "gui/view/memory/allocations_panel.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QVBoxLayout>

#include "gui/paint/memory_style.h"

namespace vsim::gui {

AllocationsPanel::AllocationsPanel(Session& session, QWidget* parent)
    : QWidget(parent), session_(session), model_(new AllocationModel(session, this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 4, 6, 0);
  layout->setSpacing(4);
  filter_ = new QLineEdit(this);
  filter_->setPlaceholderText("Filter: words of the buffer, unit, category or stream");
  filter_->setAccessibleName("filter of allocations");
  filter_->setClearButtonEnabled(true);
  count_ = new QLabel(this);
  table_ = new QTableView(this);
  table_->setModel(model_);
  table_->setAccessibleName("allocations");
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setAlternatingRowColors(true);
  table_->setWordWrap(false);
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table_->setSortingEnabled(true);
  table_->horizontalHeader()->setSortIndicator(static_cast<int>(query_.sort), Qt::AscendingOrder);
  auto* row = new QHBoxLayout;
  row->addWidget(filter_, 1);
  row->addWidget(count_);
  layout->addLayout(row);
  layout->addWidget(table_, 1);
  connect(filter_, &QLineEdit::textChanged, this, &AllocationsPanel::list);
  connect(&session, &Session::limitChanged, this, &AllocationsPanel::list);
  connect(&session, &Session::selectionChanged, this, &AllocationsPanel::showSelection);
  connect(&session, &Session::themeChanged, this, [this] { table_->viewport()->update(); });
  connect(model_, &AllocationModel::sortRequested, this, [this](int column, bool descending) {
    if (column < 0) return;
    query_.sort = static_cast<AllocationColumn>(column);
    query_.descending = descending;
    list();
  });
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            const core::Index buffer = model_->bufferAt(now.row());
            if (!following_ && buffer != core::kNone)
              session_.select(
                  {Selection::Kind::buffer, session_.report(), -1, static_cast<std::int64_t>(buffer), -1});
          });
}

void AllocationsPanel::setData(AllocationModel::Data data) {
  job_.cancel();
  data_ = std::move(data);
  model_->setRows(nullptr, {});
  count_->clear();
  list();
}

void AllocationsPanel::focusFilter() {
  filter_->setFocus(Qt::ShortcutFocusReason);
  filter_->selectAll();
}

AllocationQuery AllocationsPanel::query() const {
  AllocationQuery query = query_;
  query.text = filter_->text().toStdString();
  query.limit = session_.limit();
  return query;
}

void AllocationsPanel::list() {
  if (!data_) return;
  query_ = query();
  using Rows = std::vector<std::uint32_t>;
  job_.start<Rows>(
      [data = data_, query = query_](const Background::Cancelled& cancelled) {
        return allocationsFor(*data, query, &cancelled);
      },
      [this](Rows rows) {
        const std::size_t all = data_->lifetimes.all().size();
        count_->setText(
            rows.size() == all
                ? QString("%1 allocations")
                      .arg(QString::fromStdString(core::formatCount(static_cast<std::int64_t>(all))))
                : QString("%1 of %2 allocations%3")
                      .arg(QString::fromStdString(core::formatCount(static_cast<std::int64_t>(rows.size()))),
                           QString::fromStdString(core::formatCount(static_cast<std::int64_t>(all))),
                           query_.limit ? " (limited to a range of time)" : ""));
        const bool first = model_->rows().empty();
        model_->setRows(data_, std::move(rows));
        if (first && model_->rowCount() > 0) table_->resizeColumnsToContents();
        showSelection();
        emit listed();
      });
}

void AllocationsPanel::showSelection() {
  const SelectionLinks& links = session_.links();
  const int now = table_->currentIndex().row();
  if (now >= 0 && links.hasBuffer(model_->bufferAt(now))) return;  // any of its stays will do
  int row = -1;
  for (const core::Index buffer : links.buffers)
    if (row = model_->rowOf(buffer, instant_); row >= 0) break;
  if (row < 0) return;
  following_ = true;
  table_->setCurrentIndex(model_->index(row, 0));
  table_->scrollTo(model_->index(row, 0), QAbstractItemView::PositionAtCenter);
  following_ = false;
}

}  // namespace vsim::gui
