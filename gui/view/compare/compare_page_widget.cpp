#include "gui/view/compare/compare_page_widget.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPainter>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "gui/model/figure_text.h"
#include "gui/view/compare/compare_view.h"
#include "gui/view/compare/difference_table.h"
#include "gui/view/empty_page.h"

namespace vsim::gui {
namespace {

constexpr DeltaGroup kWaterfallParts[] = {DeltaGroup::kind, DeltaGroup::phase, DeltaGroup::unit,
                                          DeltaGroup::part};
constexpr double kMemoryWidth = 400;

QString q(const std::string& text) { return QString::fromStdString(text); }

}  // namespace

CompareView::CompareView(Session& session, QWidget* parent) : View(session, parent) {
  setAccessibleName("comparison");
  empty_ = new PageCanvas(this);
  empty_->setAccessibleName("nothing to compare");
  empty_->setFocusPolicy(Qt::NoFocus);
  empty_->setDraw([this](QPainter& painter, QSizeF size, std::vector<HotSpot>*) {
    const Palette& colours = paletteOf(this->session().theme());
    painter.fillRect(QRectF(QPointF(0, 0), size), colours.background);
    drawEmptyPage(
        painter, colours, QRectF(QPointF(0, 0), size), work_.busy() ? "Comparing" : "Nothing to compare yet",
        work_.busy() ? ""
                     : "Select two runs on the page \"Runs\" and compare them, pin a baseline, or open a "
                       "run with several systems.");
    return 0.0;
  });
  auto* content = new QWidget(this);
  auto* layout = new QVBoxLayout(content);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(makeBar());
  notes_ = new QLabel(content);
  notes_->setWordWrap(true);
  notes_->setContentsMargins(16, 2, 16, 2);
  layout->addWidget(notes_);
  auto* splitter = new QSplitter(Qt::Vertical, content);
  canvas_ = new PageCanvas(splitter);
  canvas_->setAccessibleName("waterfall and memory");
  canvas_->setMinimumHeight(180);
  canvas_->setDraw([this](QPainter& painter, QSizeF size, std::vector<HotSpot>* spots) {
    return draw(painter, size, spots);
  });
  strips_ = new StripsWidget(splitter);
  tabs_ = new QTabWidget(splitter);
  tabs_->setDocumentMode(true);
  tabs_->setAccessibleName("tables");
  differences_ = makeTable(differenceModel_, "differences");
  configuration_ = makeTable(configurationModel_, "settings that differ");
  tabs_->addTab(differences_, "Differences");
  tabs_->addTab(configuration_, "Settings");
  for (QWidget* part :
       {static_cast<QWidget*>(canvas_), static_cast<QWidget*>(strips_), static_cast<QWidget*>(tabs_)})
    splitter->addWidget(part);
  splitter->setSizes({300, 210, 260});
  splitter->setChildrenCollapsible(false);
  layout->addWidget(splitter, 1);
  pages_ = new QStackedWidget(this);
  pages_->addWidget(empty_);
  pages_->addWidget(content);
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->addWidget(pages_);
  differenceModel_.setExtra(
      [this](std::size_t row, int column, int role) { return differenceExtra(row, column, role); });
  connect(strips_, &StripsWidget::opened, this, [this](int strip, TimeRange range) {
    // Only the current run's report has a timeline of its own page.
    const auto chosen = chosenSides();
    const auto index = static_cast<std::size_t>(strip);
    if (index >= chosen.size() || chosen[index].run != this->session().current()) return;
    this->session().setReport(static_cast<int>(chosen[index].report));
    this->session().setZoom(range);
    this->session().setView("timeline");
  });
  connect(&session, &Session::runsChanged, this, &CompareView::load);
  connect(&session, &Session::baselineChanged, this, &CompareView::load);
  connect(&session, &Session::themeChanged, this, [this] {
    strips_->setColours(paletteOf(this->session().theme()));
    canvas_->update();
    empty_->update();
  });
  strips_->setColours(paletteOf(session.theme()));
  load();
}

QWidget* CompareView::makeBar() {
  auto* bar = new QWidget(this);
  auto* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(16, 6, 16, 6);
  const auto add = [&](const QString& label, const QString& help) {
    auto* box = new QComboBox(bar);
    box->setAccessibleName(help);
    box->setToolTip(help);
    box->setMinimumContentsLength(18);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    auto* text = new QLabel(label, bar);
    text->setBuddy(box);
    layout->addWidget(text);
    layout->addWidget(box, 1);
    return box;
  };
  first_ = add("&A", "what the others are measured against");
  second_ = add("&B", "what is compared with A");
  parts_ = add("&Parts", "what the difference is divided into");
  parts_->addItems({"kind of time", "phase", "unit and phase", "contributor"});
  connect(first_, &QComboBox::currentIndexChanged, this, [this] { start(); });
  connect(second_, &QComboBox::currentIndexChanged, this, [this] { start(); });
  connect(parts_, &QComboBox::currentIndexChanged, this, [this] { canvas_->refresh(); });
  return bar;
}

QTableView* CompareView::makeTable(DataTableModel& model, const QString& name) {
  auto* table = new QTableView(this);
  table->setModel(&model);
  table->setAccessibleName(name);
  table->setSortingEnabled(true);
  table->setAlternatingRowColors(true);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->verticalHeader()->hide();
  table->setShowGrid(false);
  table->setWordWrap(false);
  table->horizontalHeader()->setHighlightSections(false);
  table->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
  table->setTabKeyNavigation(false);
  return table;
}

DeltaGroup CompareView::waterfallParts() const {
  return kWaterfallParts[static_cast<std::size_t>(std::max(0, parts_->currentIndex()))];
}

void CompareView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  if (stale_) load();
}

void CompareView::load() {
  stale_ = !isVisible();
  if (stale_) return work_.cancel();
  std::vector<Session::Run> runs = session().runs();
  const Session::Run baseline = session().baseline();
  if (baseline && !runs.empty() && std::find(runs.begin(), runs.end(), baseline) == runs.end())
    runs.push_back(baseline);
  sides_ = comparableSides(runs);
  const std::vector<std::size_t> chosen = suggestedSides(sides_, session().report());
  const QSignalBlocker first(first_), second(second_);
  first_->clear();
  second_->clear();
  for (const ComparedSide& side : sides_)
    for (QComboBox* box : {first_, second_}) box->addItem(q(side.title));
  if (chosen.size() >= 2) {
    // The baseline is what the current run is measured against.
    const bool baselineFirst = baseline && chosen.size() == 2 && sides_[chosen[1]].run == baseline;
    first_->setCurrentIndex(static_cast<int>(chosen[baselineFirst ? 1 : 0]));
    second_->setCurrentIndex(static_cast<int>(chosen[baselineFirst ? 0 : 1]));
  }
  start();
}

std::vector<ComparedSide> CompareView::chosenSides() const {
  const int a = first_->currentIndex(), b = second_->currentIndex();
  if (a < 0 || b < 0 || sides_.size() < 2) return {};
  std::vector<std::size_t> order{static_cast<std::size_t>(a), static_cast<std::size_t>(b)};
  for (const std::size_t i : suggestedSides(sides_, session().report()))
    if (std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
  std::vector<ComparedSide> chosen;
  for (const std::size_t i : order)
    if (chosen.size() < kMostSides) chosen.push_back(sides_[i]);
  return chosen;
}

void CompareView::start() {
  comparison_.reset();
  const std::vector<ComparedSide> chosen = chosenSides();
  if (chosen.size() < 2) {
    work_.cancel();
    pages_->setCurrentIndex(0);
    empty_->update();
    return;
  }
  work_.start<Result>(
      [chosen](const Background::Cancelled& cancelled) {
        Result result{compare(chosen, [&cancelled] { return cancelled.load(); }), nullptr, nullptr};
        if (cancelled.load()) return result;
        result.a = stripOf(chosen[0]);
        result.b = stripOf(chosen[1]);
        return result;
      },
      [this](Result result) { arrived(std::move(result)); });
  empty_->update();
}

void CompareView::arrived(Result result) {
  comparison_ = std::move(result.comparison);
  strips_->setStrips(result.a, result.b);
  showTables();
  QString notes;
  for (const std::string& note : comparison_->notes) notes += (notes.isEmpty() ? "" : "\n") + q(note);
  notes_->setText(notes);
  notes_->setVisible(!notes.isEmpty());
  canvas_->refresh();
  pages_->setCurrentIndex(1);
}

void CompareView::showTables() {
  differenceModel_.setTable(differenceTable(*comparison_));
  configurationModel_.setTable(configurationTable(*comparison_));
  for (QTableView* table : {differences_, configuration_}) {
    table->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
    table->resizeColumnsToContents();
    for (int column = 0; column < table->model()->columnCount(); ++column)
      table->setColumnWidth(column, std::min(320, table->columnWidth(column) + 8));
    table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 6);
  }
  tabs_->setTabText(1, QString("Settings (%1 differ)").arg(comparison_->configuration.size()));
}

QVariant CompareView::differenceExtra(std::size_t row, int column, int role) const {
  if (!comparison_ || row >= comparison_->rows.size()) return {};
  return differenceCell(*comparison_, row, column, role, paletteOf(session().theme()));
}

double CompareView::draw(QPainter& painter, QSizeF size, std::vector<HotSpot>* spots) {
  const Palette& colours = paletteOf(session().theme());
  painter.fillRect(QRectF(QPointF(0, 0), size), colours.background);
  if (!comparison_ || comparison_->rows.empty()) return 0;
  Sheet sheet(painter, colours, spots);
  const bool wide = size.width() >= 900;
  const double memory = wide ? std::clamp(size.width() * 0.38, kMemoryWidth, 1.4 * kMemoryWidth) : 0;
  const QRectF area(16, 8, size.width() - 32, size.height() - 12);
  paintWaterfall(sheet, waterfallOf(*comparison_, 1, waterfallParts(), 8), q(comparison_->sides[0].title),
                 q(comparison_->sides[1].title), area.adjusted(0, 0, wide ? -memory - 28 : 0, 0));
  if (wide)
    paintMemoryBars(sheet, *comparison_, QRectF(area.right() - memory, area.top(), memory, area.height()));
  return 0;
}

void CompareView::swapSides() {
  const int a = first_->currentIndex(), b = second_->currentIndex();
  {
    const QSignalBlocker first(first_), second(second_);
    first_->setCurrentIndex(b);
    second_->setCurrentIndex(a);
  }
  start();
}

std::vector<Command> CompareView::commands() {
  return {
      {"compare.swap", "Exchange A and B", "X", "Measures the other way round.", [this] { swapSides(); }},
      {"compare.parts", "Next way to divide the difference", "P",
       "Kind of time, phase, unit, contributor in turn.",
       [this] { parts_->setCurrentIndex((parts_->currentIndex() + 1) % parts_->count()); }},
      {"compare.zoom-in", "Zoom lanes in", "W", "Both strips.", [this] { strips_->zoom(0.7); }},
      {"compare.zoom-out", "Zoom lanes out", "S", "Both strips.", [this] { strips_->zoom(1 / 0.7); }},
      {"compare.left", "Move lanes left", "A", "Both strips.", [this] { strips_->pan(-0.2); }},
      {"compare.right", "Move lanes right", "D", "Both strips.", [this] { strips_->pan(0.2); }},
      {"compare.fit", "Show the whole steps", "F", "Both strips.", [this] { strips_->fit(); }},
  };
}

void CompareView::drawExport(QPainter& painter, QSize size) {
  const Palette& colours = paletteOf(session().theme());
  painter.fillRect(QRectF(QPointF(0, 0), QSizeF(size)), colours.background);
  if (!comparison_ || comparison_->rows.empty()) {
    drawEmptyPage(painter, colours, QRectF(QPointF(0, 0), QSizeF(size)), "Nothing to compare yet", "");
    return;
  }
  const double strips = std::clamp(size.height() * 0.35, 140.0, 320.0);
  draw(painter, QSizeF(size.width(), size.height() - strips), nullptr);
  Sheet sheet(painter, colours, nullptr);
  strips_->draw(sheet, QRectF(16, size.height() - strips, size.width() - 32, strips - 8));
}

DataTable CompareView::exportTable() const { return comparison_ ? tableOf(*comparison_) : DataTable{}; }

std::unique_ptr<View> makeCompareView(Session& session, QWidget* parent) {
  return std::make_unique<CompareView>(session, parent);
}

}  // namespace vsim::gui
