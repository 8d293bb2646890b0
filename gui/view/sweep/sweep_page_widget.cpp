#include "gui/view/sweep/sweep_page_widget.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/model/figure_text.h"
#include "gui/view/empty_page.h"
#include "gui/view/sweep/stored_points.h"
#include "gui/view/sweep/sweep_view.h"

namespace vsim::gui {
namespace {

QString q(const std::string& text) { return QString::fromStdString(text); }

}  // namespace

SweepView::SweepView(Session& session, QWidget* parent) : View(session, parent) {
  setAccessibleName("sweep");
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(makeBar());
  canvas_ = new PageCanvas(this);
  canvas_->setAccessibleName("chart of the sweep");
  canvas_->setDraw([this](QPainter& painter, QSizeF size, std::vector<HotSpot>* spots) {
    return draw(painter, size, spots);
  });
  layout->addWidget(canvas_, 1);
  remark_ = new QLabel(this);
  remark_->setContentsMargins(16, 4, 16, 6);
  remark_->setWordWrap(true);
  layout->addWidget(remark_);
  connect(canvas_, &PageCanvas::activated, this, &SweepView::openPoint);
  connect(&session, &Session::runsChanged, this, &SweepView::load);
  connect(&session, &Session::storeWritten, this, [this] {
    if (source_->currentIndex() == static_cast<int>(Source::stored)) load();
  });
  connect(&session, &Session::themeChanged, canvas_, [this] { canvas_->update(); });
  load();
}

QWidget* SweepView::makeBar() {
  auto* bar = new QWidget(this);
  auto* layout = new QHBoxLayout(bar);
  layout->setContentsMargins(16, 6, 16, 6);
  const auto add = [&](const QString& label, const QString& help, QLabel** kept = nullptr) {
    auto* box = new QComboBox(bar);
    box->setAccessibleName(help);
    box->setToolTip(help);
    box->setMinimumContentsLength(9);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    auto* text = new QLabel(label, bar);
    text->setBuddy(box);
    layout->addWidget(text);
    layout->addWidget(box, 1);
    if (kept != nullptr) *kept = text;
    return box;
  };
  source_ = add("Of", "which runs are shown");
  source_->addItems({"this run", "opened runs", QString("newest %1 stored runs").arg(kStoredRuns)});
  kind_ = add("As", "kind of chart");
  kind_->addItems({"lines", "points", "heat map", "Pareto front"});
  x_ = add("x", "horizontal axis");
  y_ = add("y", "vertical axis");
  series_ = add("Series", "one line for each value; the colour of a heat map", &seriesLabel_);
  logX_ = new QCheckBox("log x", bar);
  logY_ = new QCheckBox("log y", bar);
  layout->addWidget(logX_);
  layout->addWidget(logY_);
  connect(source_, &QComboBox::currentIndexChanged, this, [this] { load(); });
  connect(kind_, &QComboBox::currentIndexChanged, this,
          [this](int index) { setKind(static_cast<SweepChoice::Kind>(std::max(0, index))); });
  for (QComboBox* box : {x_, y_, series_})
    connect(box, &QComboBox::currentIndexChanged, this, [this] { readBoxes(); });
  for (QCheckBox* box : {logX_, logY_}) connect(box, &QCheckBox::toggled, this, [this] { readBoxes(); });
  return bar;
}

void SweepView::load() {
  const auto source = static_cast<Source>(std::max(0, source_->currentIndex()));
  std::vector<Session::Run> runs;
  if (source == Source::current && session().current()) runs = {session().current()};
  if (source != Source::current) runs = session().runs();
  if (source == Source::stored) {
    sources_ = runs;
    work_.start<Loaded>(
        [path = session().storePath()](const Background::Cancelled& cancelled) {
          StoredPoints stored = storedPoints(path, kStoredRuns, [&cancelled] { return cancelled.load(); });
          return Loaded{std::move(stored.data), q(stored.remark)};
        },
        [this](Loaded loaded) { arrived(std::move(loaded)); });
    return;
  }
  work_.cancel();
  sources_ = runs;
  std::vector<SweepSource> sources;
  for (const Session::Run& run : runs)
    if (run) sources.push_back({run->title, run->id, run->reports});
  arrived({sweepOf(sources), {}});  // some hundred reports at most: no work for a thread
}

void SweepView::arrived(Loaded loaded) {
  data_ = std::move(loaded.data);
  loadedRemark_ = loaded.remark;
  fillBoxes();
  setChoice(keptChoice());
}

QVariantMap SweepView::look() const {
  QVariantMap look = View::look();
  look.insert(kept_);
  if (data_.columns.empty() || choice_ == suggestedChoice(data_)) return look;
  const auto name = [this](std::size_t column) { return q(data_.columns[column].name); };
  look.insert("chart", static_cast<int>(choice_.kind));
  look.insert("x", name(choice_.x));
  look.insert("y", name(choice_.y));
  look.insert("series", choice_.series ? name(*choice_.series) : QString());
  look.insert("log-x", choice_.logX);
  look.insert("log-y", choice_.logY);
  return look;
}

void SweepView::setLook(const QVariantMap& look) {
  View::setLook(look);
  kept_.clear();
  for (const char* key : {"chart", "x", "y", "series", "log-x", "log-y"})
    if (look.contains(key)) kept_.insert(key, look.value(key));
  if (!data_.columns.empty()) setChoice(keptChoice());
}

/// The axes that were kept where these points have them, else those that show most.
SweepChoice SweepView::keptChoice() const {
  const SweepChoice suggested = suggestedChoice(data_);
  if (kept_.isEmpty()) return suggested;
  const auto column = [&](const char* key) {
    return data_.column(kept_.value(key).toString().toStdString());
  };
  const auto x = column("x"), y = column("y");
  const int kind = kept_.value("chart").toInt();
  if (!x || !y || kind < 0 || kind > static_cast<int>(SweepChoice::Kind::pareto)) return suggested;
  return {.kind = static_cast<SweepChoice::Kind>(kind),
          .x = *x,
          .y = *y,
          .series = column("series"),
          .logX = kept_.value("log-x").toBool(),
          .logY = kept_.value("log-y").toBool()};
}

void SweepView::fillBoxes() {
  const QSignalBlocker x(x_), y(y_), series(series_);
  for (QComboBox* box : {x_, y_, series_}) box->clear();
  series_->addItem("none", -1);
  for (std::size_t i = 0; i < data_.columns.size(); ++i) {
    const QString name = q(data_.columns[i].name);
    for (QComboBox* box : {x_, y_, series_}) box->addItem(name, static_cast<int>(i));
  }
}

void SweepView::setChoice(const SweepChoice& choice) {
  choice_ = choice;
  const QSignalBlocker a(kind_), b(x_), c(y_), d(series_), e(logX_), f(logY_);
  kind_->setCurrentIndex(static_cast<int>(choice.kind));
  x_->setCurrentIndex(x_->findData(static_cast<int>(choice.x)));
  y_->setCurrentIndex(y_->findData(static_cast<int>(choice.y)));
  series_->setCurrentIndex(series_->findData(choice.series ? static_cast<int>(*choice.series) : -1));
  logX_->setChecked(choice.logX);
  logY_->setChecked(choice.logY);
  const bool heat = choice.kind == SweepChoice::Kind::heatMap;
  seriesLabel_->setText(heat ? "Colour" : "Series");
  logX_->setEnabled(!heat);
  logY_->setEnabled(!heat);
  picture_ = sweepPicture(data_, choice_);
  QString remark = QString("%1 points").arg(data_.points.size());
  if (picture_.misfits > 0) remark += QString("; %1 do not fit (crosses)").arg(picture_.misfits);
  if (picture_.leftOut > 0) remark += QString("; %1 have no value here").arg(picture_.leftOut);
  if (!loadedRemark_.isEmpty()) remark += "; " + loadedRemark_;
  remark_->setText(data_.points.empty() ? loadedRemark_ : remark + ". Click a point to open it.");
  canvas_->refresh();
}

void SweepView::setKind(SweepChoice::Kind kind) {
  SweepChoice choice = choice_;
  choice.kind = kind;
  const auto step = data_.column(kStepColumn), peak = data_.column(kPeakColumn);
  if (kind == SweepChoice::Kind::pareto && step && peak) {
    choice.x = *peak;
    choice.y = *step;
    choice.logX = choice.logY = false;
  } else if (kind == SweepChoice::Kind::heatMap) {
    // Two inputs that vary, and what came out as the colour.
    std::vector<std::size_t> inputs;
    for (std::size_t i = 0; i < data_.columns.size(); ++i)
      if (data_.columns[i].varies && !data_.columns[i].result) inputs.push_back(i);
    if (!inputs.empty()) choice.x = inputs[0];
    if (inputs.size() > 1) choice.y = inputs[1];
    choice.series = step;
  } else if (choice_.kind == SweepChoice::Kind::heatMap || choice_.kind == SweepChoice::Kind::pareto) {
    choice = suggestedChoice(data_);
    choice.kind = kind;
  }
  setChoice(choice);
}

void SweepView::readBoxes() {
  if (x_->currentIndex() < 0 || y_->currentIndex() < 0) return;
  SweepChoice choice = choice_;
  choice.x = static_cast<std::size_t>(x_->currentData().toInt());
  choice.y = static_cast<std::size_t>(y_->currentData().toInt());
  const int series = series_->currentIndex() < 0 ? -1 : series_->currentData().toInt();
  choice.series = series < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(series));
  choice.logX = logX_->isChecked();
  choice.logY = logY_->isChecked();
  setChoice(choice);
}

void SweepView::openPoint(std::size_t index) {
  if (index >= data_.points.size()) return;
  const SweepPoint point = data_.points[index];
  const auto& runs = session().runs();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool stored = source_->currentIndex() == static_cast<int>(Source::stored);
    const bool same = stored ? runs[i]->id != 0 && runs[i]->id == point.run
                             : point.source < sources_.size() && runs[i] == sources_[point.source];
    if (!same) continue;
    session().makeCurrent(i);
    session().setReport(point.report);
    return session().setView("summary");
  }
  if (point.run == 0) return;
  session().requestOpen({.kind = RunSource::Kind::stored,
                         .path = session().storePath(),
                         .id = point.run,
                         .report = point.report});
  session().setView("summary");
}

double SweepView::draw(QPainter& painter, QSizeF size, std::vector<HotSpot>* spots) {
  const Palette& colours = paletteOf(session().theme());
  painter.fillRect(QRectF(QPointF(0, 0), size), colours.background);
  const QRectF area = QRectF(QPointF(0, 0), size).adjusted(20, 14, -12, -10);
  if (data_.points.empty() || area.width() < 120 || area.height() < 100) {
    if (work_.busy())
      drawEmptyPage(painter, colours, area, "Reading the stored runs", "");
    else
      drawEmptyPage(
          painter, colours, area, "No points yet",
          "Open the run of a scenario with a `sweep:` section or several systems, or choose the stored "
          "runs.");
    return 0;
  }
  Sheet sheet(painter, colours, spots);
  if (picture_.heat)
    paintHeatMap(sheet, picture_.map, area);
  else
    paintChart(sheet, picture_.chart, area);
  return 0;
}

std::vector<Command> SweepView::commands() {
  const auto kind = [this](const char* id, const char* name, const char* help, SweepChoice::Kind value) {
    return Command{id, name, "", help, [this, value] { setKind(value); }};
  };
  return {
      kind("sweep.lines", "Lines", "Points joined by lines.", SweepChoice::Kind::line),
      kind("sweep.points", "Points", "Points alone.", SweepChoice::Kind::scatter),
      kind("sweep.heat", "Heat map", "Two inputs against a result.", SweepChoice::Kind::heatMap),
      kind("sweep.pareto", "Pareto front", "Step time against peak memory.", SweepChoice::Kind::pareto),
      {"sweep.source", "Next set of runs", "", "This run, opened runs, stored runs in turn.",
       [this] { source_->setCurrentIndex((source_->currentIndex() + 1) % source_->count()); }},
      {"sweep.log-x", "Logarithmic x", "", "Exchanges linear and logarithmic.", [this] { logX_->toggle(); }},
      {"sweep.log-y", "Logarithmic y", "", "Exchanges linear and logarithmic.", [this] { logY_->toggle(); }}};
}

void SweepView::drawExport(QPainter& painter, QSize size) { draw(painter, QSizeF(size), nullptr); }

DataTable SweepView::exportTable() const {
  DataTable table{{"point", "fits"}, {}, {false, false}};
  for (const SweepColumn& column : data_.columns) {
    table.header.push_back(column.name);
    table.numeric.push_back(column.numeric);
  }
  for (const SweepPoint& point : data_.points) {
    std::vector<std::string> cells{point.title, point.fits ? "yes" : "no"};
    for (std::size_t i = 0; i < data_.columns.size(); ++i) {
      const auto& value = point.values[i];
      const auto& names = data_.columns[i].names;
      cells.push_back(!value          ? std::string()
                      : names.empty() ? plainNumber(*value)
                                      : names[static_cast<std::size_t>(*value)]);
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::unique_ptr<View> makeSweepView(Session& session, QWidget* parent) {
  return std::make_unique<SweepView>(session, parent);
}

}  // namespace vsim::gui
