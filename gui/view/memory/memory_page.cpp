#include "gui/view/memory/memory_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/view/memory/memory_view.h"

namespace vsim::gui {

std::unique_ptr<View> makeMemoryView(Session& session, QWidget* parent) {
  return std::make_unique<MemoryPage>(session, parent);
}

MemoryPage::MemoryPage(Session& session, QWidget* parent) : View(session, parent) {
  setAccessibleName("memory");
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  stack_ = new QStackedWidget(this);
  layout->addWidget(stack_);
  message_ = new QLabel(stack_);
  message_->setAlignment(Qt::AlignCenter);
  message_->setWordWrap(true);
  message_->setMargin(40);
  message_->setAccessibleName("message");
  stack_->addWidget(message_);
  auto* content = new QWidget(stack_);
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(0, 4, 0, 2);
  column->setSpacing(4);
  column->addWidget(makeHeader());
  warning_ = new QLabel(content);
  warning_->setWordWrap(true);
  warning_->setMargin(6);
  warning_->setAccessibleName("warning");
  warning_->hide();
  column->addWidget(warning_);
  legend_ = new LegendWidget(session, content);
  column->addWidget(legend_);
  auto* splitter = new QSplitter(Qt::Vertical, content);
  splitter->setChildrenCollapsible(false);
  plot_ = new MemoryPlotWidget(session, splitter);
  splitter->addWidget(plot_);
  splitter->addWidget(makeTabs());
  splitter->setSizes({420, 380});
  column->addWidget(splitter, 1);
  hover_ = new QLabel(content);
  hover_->setContentsMargins(8, 0, 8, 0);
  hover_->setAccessibleName("what is under the pointer");
  hover_->setMinimumWidth(1);
  column->addWidget(hover_);
  stack_->addWidget(content);
  connectWidgets();
  runChanged();
}

QWidget* MemoryPage::makeHeader() {
  auto* header = new QWidget(this);
  auto* row = new QHBoxLayout(header);
  row->setContentsMargins(8, 0, 8, 0);
  auto* label = new QLabel("&Ranks", header);
  classes_ = new QComboBox(header);
  classes_->setAccessibleName("class of ranks");
  classes_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  label->setBuddy(classes_);
  now_ = new QLabel(header);
  now_->setAccessibleName("instant");
  now_->setMinimumWidth(1);
  row->addWidget(label);
  row->addWidget(classes_);
  row->addSpacing(12);
  row->addWidget(now_, 1);
  const auto button = [&](const QString& text, const QString& help, auto press) {
    auto* made = new QToolButton(header);
    made->setText(text);
    made->setToolTip(help);
    made->setAccessibleDescription(help);
    connect(made, &QToolButton::clicked, this, press);
    row->addWidget(made);
  };
  button("Axis", "Draw the curve over time, or event by event in the order of the host (X)",
         [this] { plot_->setByEvent(!plot_->byEvent()); });
  button("Peak", "Show the instant at which most is allocated (P)", [this] {
    if (data_) pickInstant(data_->curve.peak());
  });
  button("\u25c0 Event", "The event before (,)", [this] { step(-1); });
  button("Event \u25b6", "The next event (.)", [this] { step(1); });
  return header;
}

QWidget* MemoryPage::makeTabs() {
  tabs_ = new QTabWidget(this);
  tabs_->setDocumentMode(true);
  tabs_->setAccessibleName("about the instant");
  treemap_ = new TreemapWidget(session(), tabs_);
  map_ = new MapPanel(session(), tabs_);
  allocations_ = new AllocationsPanel(session(), tabs_);
  tabs_->addTab(treemap_, "Live: treemap");
  tabs_->addTab(makeLiveTable(), "Live: table");
  tabs_->addTab(map_, "Allocator map");
  tabs_->addTab(allocations_, "Allocations");
  return tabs_;
}

QWidget* MemoryPage::makeLiveTable() {
  liveModel_ = new LiveModel(session(), this);
  liveOrder_ = new QSortFilterProxyModel(this);
  liveOrder_->setSourceModel(liveModel_);
  liveOrder_->setSortRole(Qt::UserRole);
  liveTable_ = new QTreeView(tabs_);
  liveTable_->setModel(liveOrder_);
  liveTable_->setAccessibleName("what is live, as a table");
  liveTable_->setUniformRowHeights(true);
  liveTable_->setAlternatingRowColors(true);
  liveTable_->setSortingEnabled(true);
  liveTable_->header()->setSortIndicator(-1, Qt::DescendingOrder);
  liveTable_->header()->setSortIndicatorClearable(true);
  liveOrder_->sort(-1);
  connect(liveTable_, &QTreeView::expanded, this, &MemoryPage::fitLiveColumns);
  return liveTable_;
}

void MemoryPage::fitLiveColumns() {
  for (int c = 0; c < liveModel_->columnCount(); ++c) liveTable_->resizeColumnToContents(c);
}

void MemoryPage::connectWidgets() {
  Session& s = session();
  connect(&s, &Session::runsChanged, this, &MemoryPage::runChanged);
  connect(&s, &Session::selectionChanged, this, &MemoryPage::selectRow);
  connect(&s, &Session::themeChanged, this, [this] {
    if (data_) setWarning();
    if (data_) legend_->setEntries(MemoryPlotPainter::legend(*data_, paletteOf(session().theme())));
    liveTable_->viewport()->update();
  });
  connect(classes_, &QComboBox::activated, this, [this] { build(); });
  connect(&s, &Session::cursorChanged, this, &MemoryPage::followCursor);
  connect(plot_, &MemoryPlotWidget::instantPicked, this, &MemoryPage::pickInstant);
  connect(map_, &MapPanel::eventPicked, this, &MemoryPage::pickInstant);
  for (const auto& connection : {connect(plot_, &MemoryPlotWidget::hovered, hover_, &QLabel::setText),
                                 connect(treemap_, &TreemapWidget::hovered, hover_, &QLabel::setText),
                                 connect(map_, &MapPanel::hovered, hover_, &QLabel::setText)})
    Q_ASSERT(connection);
  connect(liveTable_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            const core::Index buffer = liveModel_->bufferAt(liveOrder_->mapToSource(now));
            if (!following_ && buffer != core::kNone)
              session().select(
                  {Selection::Kind::buffer, session().report(), -1, static_cast<std::int64_t>(buffer), -1});
          });
}

void MemoryPage::showMessage(const QString& text) {
  message_->setText(text);
  stack_->setCurrentIndex(0);
}

void MemoryPage::runChanged() {
  building_.cancel();
  looking_.cancel();
  setData(nullptr);
  fillClasses();
  stale_ = true;
  const Session::Run run = session().current();
  const std::string problem =
      whyNoMemory(run.get(), static_cast<std::size_t>(session().report()), rankClass());
  showMessage(problem.empty() ? QString("Reading the memory events \u2026")
                              : QString::fromStdString(problem));
  if (isVisible()) build();
}

void MemoryPage::fillClasses() {
  classes_->clear();
  const auto log = session().log();
  if (!log) return;
  const std::size_t worst = worstMemoryClass(*log);
  for (std::size_t i = 0; i < log->ranks.size(); ++i) {
    const core::RankLog& rank = log->ranks[i];
    QString text = QString::fromStdString(rank.name);
    if (rank.ranks > 1)
      text += QString(" (%1 ranks alike)").arg(QString::fromStdString(core::formatCount(rank.ranks)));
    if (i == worst && log->ranks.size() > 1) text += ", worst";
    classes_->addItem(text);
  }
  if (!log->ranks.empty()) classes_->setCurrentIndex(static_cast<int>(worst));
}

std::size_t MemoryPage::rankClass() const {
  return static_cast<std::size_t>(std::max(0, classes_->currentIndex()));
}

void MemoryPage::showEvent(QShowEvent* event) {
  View::showEvent(event);
  if (stale_)
    build();
  else if (data_ && session().cursor() && data_->curve.time(instant_) != *session().cursor())
    followCursor();
}

void MemoryPage::build() {
  stale_ = false;
  const Session::Run run = session().current();
  const auto report = static_cast<std::size_t>(session().report());
  const std::string problem = whyNoMemory(run.get(), report, rankClass());
  if (!problem.empty()) return showMessage(QString::fromStdString(problem));
  building_.start<Data>(
      [run, report, rank = rankClass()](const Background::Cancelled& cancelled) {
        return memoryOf(*run, report, rank, &cancelled);
      },
      [this](Data data) { setData(std::move(data)); });
}

void MemoryPage::setData(Data data) {
  data_ = std::move(data);
  live_ = nullptr;
  instant_ = -1;
  plot_->setData(data_);
  treemap_->setLive(nullptr, nullptr);
  liveModel_->setLive(nullptr, nullptr);
  map_->setData(data_);
  allocations_->setData(data_);
  hover_->clear();
  if (!data_) return;
  setWarning();
  legend_->setEntries(MemoryPlotPainter::legend(*data_, paletteOf(session().theme())));
  stack_->setCurrentIndex(1);
  const auto cursor = session().cursor();
  setInstant(cursor ? data_->curve.lastAt(*cursor) : data_->curve.peak());
}

void MemoryPage::pickInstant(std::int64_t event) {
  setInstant(event);
  if (!data_) return;
  picking_ = true;
  session().setCursor(data_->curve.time(instant_));
  picking_ = false;
}

/// The instant is where the cursor is that another page has set; of several events at that time, the last.
void MemoryPage::followCursor() {
  const auto cursor = session().cursor();
  if (picking_ || !cursor || !data_ || !isVisible()) return;
  const std::int64_t event = data_->curve.lastAt(*cursor);
  if (event != instant_) setInstant(event);
}

void MemoryPage::setWarning() {
  QStringList lines;
  for (const std::string& remark : memoryRemarks(*data_)) lines.push_back(QString::fromStdString(remark));
  const QColor plate = paletteOf(session().theme()).exposed;
  warning_->setText(lines.join("\n"));
  warning_->setStyleSheet(
      QString("background: %1; color: %2; font-weight: bold;").arg(plate.name(), inkOn(plate).name()));
  warning_->setVisible(!lines.isEmpty());
}

void MemoryPage::setInstant(std::int64_t event) {
  if (!data_) return;
  event = std::clamp<std::int64_t>(event, data_->curve.complete() ? 0 : -1, data_->curve.size() - 1);
  instant_ = event;
  plot_->setInstant(event);
  allocations_->setInstant(event);
  const MemoryExtent now = data_->curve.extent(event, event + 1);
  const QString what = event < 0 ? QString("before the log")
                                 : QString("event %1 of %2")
                                       .arg(QString::fromStdString(core::formatCount(event + 1)),
                                            QString::fromStdString(core::formatCount(data_->curve.size())));
  now_->setText(QString("%1<b>%2</b> allocated, %3 reserved at %4 (%5)")
                    .arg(event == data_->curve.peak() ? "Peak: " : "", bytesText(now.allocated.most),
                         bytesText(now.reserved.most), timeText(data_->curve.time(event)),
                         what.toHtmlEscaped()));
  QString tip = now_->text();  // narrow windows cut it
  if (event >= 0) {
    const auto& happened = data_->curve.events()[static_cast<std::size_t>(event)];
    tip += QString("<br>%1 %2")
               .arg(happened.allocate ? "allocates" : "frees",
                    QString::fromStdString(bufferTitle(data_->program(), happened.buffer)).toHtmlEscaped());
  }
  now_->setToolTip(tip);
  looking_.start<Instant>(
      [data = data_, event](const Background::Cancelled&) { return instantOf(*data, event); },
      [this](Instant instant) { showInstant(instant); });
}

MemoryPage::Instant MemoryPage::instantOf(const MemoryData& data, std::int64_t event) {
  Instant instant;
  instant.live = std::make_shared<const LiveSet>(liveAfter(data.lifetimes, event));
  if (data.allocator && event >= 0)
    instant.map = std::make_shared<const AllocatorMap>(data.allocator->mapAfter(event));
  return instant;
}

void MemoryPage::showInstant(const Instant& instant) {
  live_ = instant.live;
  treemap_->setLive(live_, session().log());
  following_ = true;
  liveModel_->setLive(live_, session().log());
  fitLiveColumns();
  following_ = false;
  map_->setMap(instant.map, instant_);
  selectRow();
}

void MemoryPage::selectRow() {
  // Of several buffers, the first one that is live.
  QModelIndex row;
  for (const core::Index buffer : session().links().buffers) {
    row = liveOrder_->mapFromSource(liveModel_->indexOf(buffer));
    if (row.isValid()) break;
  }
  if (!row.isValid() || liveTable_->currentIndex().siblingAtColumn(0) == row) return;
  following_ = true;
  liveTable_->setCurrentIndex(row);
  liveTable_->scrollTo(row);
  following_ = false;
}

bool MemoryPage::settled() const {
  if (stale_ && session().current() &&
      whyNoMemory(session().current().get(), static_cast<std::size_t>(session().report()), rankClass())
          .empty())
    return !isVisible();
  return !building_.busy() && !looking_.busy() && !allocations_->busy();
}

}  // namespace vsim::gui
