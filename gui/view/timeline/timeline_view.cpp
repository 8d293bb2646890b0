#include "gui/view/timeline/timeline_view.h"

#include <QEvent>
#include <QGridLayout>
#include <QKeyEvent>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/model/give_back_memory.h"
#include "gui/model/network_map.h"
#include "gui/model/participants.h"
#include "gui/model/slice_table.h"
#include "gui/model/stored_levels.h"
#include "gui/paint/palette.h"
#include "gui/paint/timeline_legend.h"
#include "gui/view/timeline/timeline_panels.h"

namespace vsim::gui {
namespace {

constexpr std::size_t kMostArrows = 200;

/// The legend under the lanes.
class Legend : public QWidget {
 public:
  Legend(Session& session, const TimelineCanvas& canvas, QWidget* parent)
      : QWidget(parent), session_(session), canvas_(canvas) {
    setFixedHeight(24);
    setAccessibleName("legend");
  }
  void refresh() {
    classes_ = canvas_.scene() ? classesIn(*canvas_.scene()) : std::vector<SliceClass>();
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    const Palette& palette = paletteOf(session_.theme());
    painter.fillRect(rect(), palette.panel);
    if (canvas_.scene())
      drawTimelineLegend(painter, rect(), classes_, palette,
                         canvas_.scene()->predicted() ? LegendOf::predicted : LegendOf::exposed);
  }

 private:
  Session& session_;
  const TimelineCanvas& canvas_;
  std::vector<SliceClass> classes_;
};

QTextBrowser* makePanel(QWidget* parent, const QString& name, const QString& empty) {
  auto* panel = new QTextBrowser(parent);
  panel->setOpenLinks(false);
  panel->setAccessibleName(name);
  panel->setPlaceholderText(empty);
  panel->setFrameShape(QFrame::NoFrame);
  return panel;
}

}  // namespace

TimelineView::TimelineView(Session& session, QWidget* parent) : View(session, parent) {
  build();
  connectAll();
  colourLinks();
  load();
}

void TimelineView::build() {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  searchBar_ = new QWidget(this);
  auto* searchLayout = new QHBoxLayout(searchBar_);
  searchLayout->setContentsMargins(8, 4, 8, 4);
  searchText_ = new QLineEdit(searchBar_);
  searchText_->setPlaceholderText(
      "Words of name, class, phase, stream or ranks; Enter: next, Shift+Enter: previous, Esc: close");
  searchText_->setAccessibleName("search slices");
  searchText_->installEventFilter(this);
  searchCount_ = new QLabel(searchBar_);
  searchLayout->addWidget(searchText_, 1);
  searchLayout->addWidget(searchCount_);
  searchBar_->hide();
  layout->addWidget(searchBar_);

  auto* splitter = new QSplitter(Qt::Horizontal, this);
  auto* left = new QWidget(splitter);
  auto* grid = new QGridLayout(left);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setSpacing(0);
  canvas_ = new TimelineCanvas(session(), left);
  scroll_ = new QScrollBar(Qt::Vertical, left);
  scroll_->setAccessibleName("scroll tracks");
  legend_ = new Legend(session(), *canvas_, this);
  grid->addWidget(canvas_, 0, 0);
  grid->addWidget(scroll_, 0, 1);
  grid->setColumnStretch(0, 1);
  grid->setRowStretch(0, 1);
  panels_ = new QTabWidget(splitter);
  panels_->setDocumentMode(true);
  panels_->setAccessibleName("timeline panels");
  details_ = makePanel(panels_, "slice details",
                       "Click a slice: what it is, how long it took and why it began then.");
  areaText_ =
      makePanel(panels_, "area statistics",
                "Drag over the lanes: totals of what lies in the area. R makes an area of the selection.");
  pathText_ =
      makePanel(panels_, "critical path", "C shows the chain of work that made the step as long as it is.");
  panels_->addTab(details_, "Details");
  auto* area = new QWidget(panels_);
  auto* areaLayout = new QVBoxLayout(area);
  areaLayout->setContentsMargins(0, 0, 0, 0);
  flame_ = new FlameWidget(session(), area);
  areaLayout->addWidget(areaText_, 1);
  areaLayout->addWidget(flame_);
  panels_->addTab(area, "Area");
  panels_->addTab(pathText_, "Critical path");
  splitter->addWidget(left);
  splitter->addWidget(panels_);
  splitter->setStretchFactor(0, 1);
  splitter->setStretchFactor(1, 0);
  splitter->setSizes({1000, 340});
  layout->addWidget(splitter, 1);
  layout->addWidget(legend_);

  auto* line = new QWidget(this);
  auto* lineLayout = new QHBoxLayout(line);
  lineLayout->setContentsMargins(8, 2, 8, 2);
  figures_ = new QLabel(line);
  figures_->setAccessibleName("figures of the step");
  hover_ = new QLabel(line);
  hover_->setAccessibleName("slice under the pointer");
  lineLayout->addWidget(figures_);
  lineLayout->addStretch(1);
  lineLayout->addWidget(hover_);
  layout->addWidget(line);
  setFocusProxy(canvas_);
}

void TimelineView::connectAll() {
  Session& s = session();
  connect(&s, &Session::runsChanged, this, &TimelineView::load);
  connect(&s, &Session::selectionChanged, this, [this] {
    fittedSelection_ = false;
    completeSelection();
    updateDetails();
    updateArrows();
  });
  connect(&s, &Session::zoomChanged, this, &TimelineView::updateFigures);
  connect(&s, &Session::limitChanged, this, &TimelineView::updateArea);
  connect(&s, &Session::themeChanged, this, [this] {
    legend_->update();
    colourLinks();
  });
  connect(&graphs_, &Background::failed, this, &TimelineView::graphFailed);
  connect(canvas_, &TimelineCanvas::areaChanged, this, &TimelineView::updateArea);
  connect(canvas_, &TimelineCanvas::hoverChanged, hover_, &QLabel::setText);
  connect(canvas_, &TimelineCanvas::layoutChanged, this, &TimelineView::updateScrollBar);
  connect(scroll_, &QScrollBar::valueChanged, canvas_, &TimelineCanvas::setScroll);
  connect(searchText_, &QLineEdit::textChanged, this, &TimelineView::search);
  for (QTextBrowser* panel : {details_, pathText_})
    connect(panel, &QTextBrowser::anchorClicked, this,
            [this](const QUrl& url) { select(sliceOfLink(url.toString())); });
}

/// Qt's own blue cannot be read on dark panels.
void TimelineView::colourLinks() {
  const QString style = "a { color: " + paletteOf(session().theme()).accent.name() + " }";
  for (QTextBrowser* panel : {details_, areaText_, pathText_}) {
    panel->document()->setDefaultStyleSheet(style);
  }
  updateDetails();
  updatePath();
}

void TimelineView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  if (stale_) load();
}

void TimelineView::load() {
  const Session::Run run = session().current();
  const int report = session().report();
  if (run == shownRun_ && report == shownReport_ && canvas_->scene() && !stale_) return;
  // The run that is shown already, now with its log.
  const bool completes = shownRun_ && shownRun_->loading && run && !run->loading &&
                         run->id == shownRun_->id && run->store == shownRun_->store &&
                         report == shownReport_ && canvas_->scene();
  // Made when the page is shown.
  stale_ = !completes && !isVisible() && run && (run->loading || run->imported || session().log());
  shownRun_ = run;
  shownReport_ = report;
  graph_.reset();
  network_.reset();
  networkAsked_ = false;
  networks_.cancel();
  whenGraph_.clear();
  graphs_.cancel();
  paths_.cancel();
  statistics_.cancel();
  searches_.cancel();
  keeping_.cancel();  // it goes on, what comes of it does not matter
  pathShown_ = false;
  stats_.reset();
  clearArea();
  if (!run || (!run->loading && !run->imported && !session().log())) {
    scenes_.cancel();
    canvas_->setScene(
        nullptr, !run ? "No run is open. Choose one in the list of runs, or open a scenario or a trace."
                      : "This run has no log: it was stored without one, so there are no slices to show. "
                        "Run it again to see its timeline.");
    legend_->update();
    return updateFigures();
  }
  if (completes) return buildScene();
  levelsFit_ = false;
  canvas_->setScene(nullptr, "Preparing the timeline...");
  if (stale_) return scenes_.cancel();
  const auto number = static_cast<std::size_t>(report);
  if (number >= run->levels.size() || run->levels[number].empty()) return buildScene();
  scenes_.start<TimelineCanvas::Scene>(
      [run, number](const Background::Cancelled&) { return decodeLevels(run->levels[number]); },
      [this](TimelineCanvas::Scene scene) {
        levelsFit_ = scene != nullptr;
        if (scene) sceneArrived(std::move(scene));
        buildScene();
      });
}

/// All slices and what is made of them; while the log is being read, that has to wait.
void TimelineView::buildScene() {
  const auto log = session().log();
  const Session::Run run = session().current();
  const auto trace = run->imported;
  if (!log && !trace) return;
  const auto pair = predictionOf(*run, static_cast<std::size_t>(session().report()));
  scenes_.start<TimelineCanvas::Scene>(
      [log, trace, prediction = pair ? run->logs[*pair] : nullptr](const Background::Cancelled&) {
        auto scene = std::make_shared<TimelineScene>(trace ? trace : timelineOf(log), prediction.get());
        giveBackMemory();
        return TimelineCanvas::Scene(std::move(scene));
      },
      [this](TimelineCanvas::Scene scene) {
        sceneArrived(std::move(scene));
        keepScene();
      });
}

/// Stores the first picture of a large run, so that it is there at once the next time.
void TimelineView::keepScene() {
  const auto scene = canvas_->scene();
  if (levelsFit_ || !scene || shownRun_->store.empty() || !scene->data().log) return;
  if (scene->data().slices() < kSlicesWorthLevels) return;
  keeping_.start<bool>(
      [run = shownRun_, report = shownReport_, scene](const Background::Cancelled&) {
        return keepLevels(run->store, run->id, report, *scene);
      },
      [this](bool kept) { levelsFit_ = kept; });
}

void TimelineView::sceneArrived(TimelineCanvas::Scene scene) {
  const bool empty = scene->data().slices() == 0;
  if (canvas_->scene() && !empty)
    canvas_->refineScene(scene);
  else
    canvas_->setScene(
        empty ? nullptr : scene,
        empty ? "The log holds no slices: no step ran (out of memory, or nothing to do)." : QString());
  static_cast<Legend*>(legend_)->refresh();
  if (!empty && session().zoom().empty()) canvas_->fit(scene->lastStep());
  applyMarks();
  completeSelection();
  updateDetails();
  updateArrows();
  updateFigures();
  if (!searchText_->text().isEmpty()) search(searchText_->text());
}

bool TimelineView::settled() const {
  const bool loading = !stale_ && shownRun_ && shownRun_->loading;
  return !loading && !scenes_.busy() && !graphs_.busy() && !paths_.busy() && !networks_.busy() &&
         !statistics_.busy() && !searches_.busy() && !canvas_->moving();
}

std::size_t TimelineView::shownClass() const {
  const SliceRef selected = canvas_->selected();
  if (selected.valid()) return canvas_->scene()->classOf(selected.lane);
  return 0;
}

std::size_t TimelineView::shownStep(std::size_t rankClass) const {
  const auto& steps = canvas_->scene()->classSteps()[rankClass];
  if (steps.empty()) return 0;
  const TimeRange view = session().zoom();
  const core::Picoseconds middle = view.begin + view.length() / 2;
  for (std::size_t s = 0; s < steps.size(); ++s)
    if (middle >= steps[s].range.begin && middle < steps[s].range.end) return s;
  return steps.size() - 1;
}

/// Calls `then` once the graph of the shown class is there: at once when it is.
void TimelineView::needGraph(std::function<void()> then) {
  if (!canvas_->scene() || !canvas_->scene()->data().log) return;
  const auto& scene = *canvas_->scene();
  const std::int64_t rankClass = scene.data().tracks[scene.classes()[shownClass()].track].rankClass;
  if (graph_ && graph_->rankClass() == rankClass) return then();
  whenGraph_.push_back(std::move(then));
  using Graph = core::Result<std::shared_ptr<const StepGraph>>;
  graphs_.start<Graph>(
      [data = scene.sharedData(), rankClass](const Background::Cancelled&) -> Graph {
        auto graph = StepGraph::build(data, rankClass);
        if (!graph) return tl::unexpected(graph.error());
        return std::make_shared<const StepGraph>(std::move(*graph));
      },
      [this](const Graph& graph) {
        const auto waiting = std::exchange(whenGraph_, {});
        graph_ = graph ? *graph : nullptr;
        if (!graph) return graphFailed(QString::fromStdString(graph.error().text()));
        for (const auto& call : waiting) call();
      });
}

void TimelineView::graphFailed(const QString& problem) {
  whenGraph_.clear();
  pathShown_ = false;
  emit session().message("What waited for what is not known: " + problem);
}

void TimelineView::select(SliceRef slice) {
  if (!slice.valid() || !canvas_->scene()) return;
  session().select(canvas_->selectionOf(slice));
  canvas_->reveal(canvas_->selected());
}

/// Collectives are held against the model of the run's cluster, which takes reading its scenario.
void TimelineView::needNetwork() {
  const Session::Run run = session().current();
  if (networkAsked_ || !run || !canvas_->scene() || !canvas_->scene()->data().log) return;
  networkAsked_ = true;
  using Model = std::shared_ptr<const sim::CollectiveModel>;
  networks_.start<Model>(
      [run, report = session().report()](const Background::Cancelled&) -> Model {
        auto cluster = clusterOf(*run, report);
        return cluster ? std::make_shared<const sim::CollectiveModel>(std::move(*cluster)) : nullptr;
      },
      [this](Model model) {
        network_ = std::move(model);
        if (network_ && canvas_->selected().valid()) updateDetails();
      });
}

/// Addresses name a slice without its instruction, which the other pages need.
void TimelineView::completeSelection() {
  if (canvas_->selected().valid())
    session().setSelectedInstruction(canvas_->selectionOf(canvas_->selected()).detail);
}

QVariantMap TimelineView::look() const {
  QVariantMap look = View::look();
  const Session::Run run = session().current();
  if (!run || canvas_->extras().marks.empty()) return look;
  QVariantList marks;
  for (const TimeMark& mark : canvas_->extras().marks)
    marks.push_back(QVariantList{QVariant::fromValue<qlonglong>(mark.range.begin),
                                 QVariant::fromValue<qlonglong>(mark.range.end)});
  look.insert("marks", marks);
  look.insert("marks-of", markedReport());
  return look;
}

void TimelineView::setLook(const QVariantMap& look) {
  View::setLook(look);
  keptMarks_ = look.value("marks").toList();
  keptMarksOf_ = look.value("marks-of").toString();
  applyMarks();
}

QString TimelineView::markedReport() const {
  const Session::Run run = session().current();
  return run ? QString("report %1 of ").arg(session().report()) + QString::fromStdString(run->source)
             : QString();
}

/// Marks that were kept come back once, with the report that they were set in.
void TimelineView::applyMarks() {
  if (!canvas_->scene() || keptMarks_.isEmpty() || keptMarksOf_ != markedReport()) return;
  const QVariantList marks = std::exchange(keptMarks_, {});
  change([&](TimelineCanvas::Extras& extras) {
    for (const QVariant& mark : marks) {
      const QVariantList ends = mark.toList();
      if (ends.size() != 2) continue;
      const TimeRange range{ends[0].toLongLong(), ends[1].toLongLong()};
      if (range.begin >= 0 && range.begin <= range.end && range.end <= canvas_->scene()->data().whole.end)
        extras.marks.push_back({range});
    }
  });
}

void TimelineView::updateDetails() {
  const SliceRef slice = canvas_->selected();
  if (!slice.valid()) return details_->clear();
  const TimelineData& data = canvas_->scene()->data();
  const bool current =
      graph_ && graph_->rankClass() == data.tracks[canvas_->scene()->classes()[shownClass()].track].rankClass;
  details_->setHtml(detailsHtml(sliceDetails(data, current ? graph_.get() : nullptr, slice,
                                             canvas_->scene()->predicted(), network_.get())));
  panels_->setCurrentIndex(kDetails);
  needNetwork();
  if (!current)
    needGraph([this] {
      updateDetails();
      updateArrows();
    });
}

void TimelineView::updateArrows() {
  const SliceRef slice = canvas_->selected();
  std::vector<FlowArrow> arrows;
  if (slice.valid() && graph_ && arrows_ != Arrows::off && graph_->logSlice(slice) != nullptr) {
    for (const SliceRef before : graph_->predecessors(slice)) arrows.push_back({before, slice});
    for (const SliceRef after : graph_->successors(slice)) arrows.push_back({slice, after});
    if (arrows_ == Arrows::chain) {  // what released it, and what that was released by, to the step's begin
      SliceRef at = slice;
      for (std::size_t i = 0; i < kMostArrows; ++i) {
        const auto before = graph_->predecessors(at);
        if (before.empty()) break;
        if (i > 0) arrows.push_back({before.front(), at});
        at = before.front();
      }
    }
  }
  if (slice.valid() && arrows_ != Arrows::off)
    for (const SliceRef other : participantsOf(*canvas_->scene(), slice))
      arrows.push_back({slice, other, true});
  const std::size_t all = arrows.size();
  if (arrows.size() > kMostArrows) arrows.resize(kMostArrows);
  change([&](TimelineCanvas::Extras& extras) {
    extras.arrows = std::move(arrows);
    extras.arrowsInAll = all;
  });
}

void TimelineView::clearArea() {
  areaText_->clear();
  flame_->setFlame({});
}

void TimelineView::updateArea() {
  stats_.reset();
  statistics_.cancel();
  const auto& area = canvas_->area();
  if (!canvas_->scene() || canvas_->scene()->coarse()) return clearArea();
  std::vector<std::size_t> lanes = canvas_->areaLanes();
  TimeRange range;
  if (area) {
    range = area->range;
  } else if (session().limit()) {
    range = *session().limit();
    for (std::size_t lane = 0; lane < canvas_->scene()->lanes().size(); ++lane) lanes.push_back(lane);
  }
  if (range.empty()) return clearArea();
  using Figures = std::pair<AreaStats, AreaFlame>;
  statistics_.start<Figures>(
      [scene = canvas_->scene(), lanes, range](const Background::Cancelled& cancelled) {
        return Figures{scene->statistics(lanes, range, cancelled),
                       areaFlame(scene->data(), scene->lanes(), lanes, range, cancelled)};
      },
      [this](Figures figures) {
        stats_ = figures.first;
        flame_->setFlame(std::move(figures.second));
        areaText_->setHtml(areaHtml(*stats_, canvas_->extras().unit, canvas_->scene()->lastStep()));
        panels_->setCurrentIndex(kArea);
      });
}

void TimelineView::updatePath() {
  paths_.cancel();
  if (!pathShown_ || !canvas_->scene()) {
    pathText_->clear();
    return change([](TimelineCanvas::Extras& extras) { extras.path.reset(); });
  }
  if (!canvas_->scene()->data().log) {
    if (canvas_->scene()->coarse())
      emit session().message("The log of this run is still being read");
    else
      emit session().message("Traces of other programs do not say what waited for what: no critical path");
    pathShown_ = false;
    return;
  }
  needGraph([this] {
    using Path = std::shared_ptr<const StepPath>;
    paths_.start<Path>(
        [graph = graph_, step = shownStep(shownClass())](const Background::Cancelled&) -> Path {
          auto path = stepPath(*graph, step);
          return path ? std::make_shared<const StepPath>(std::move(*path)) : nullptr;
        },
        [this](Path path) {
          if (!pathShown_ || !canvas_->scene()) return;
          change([&](TimelineCanvas::Extras& extras) { extras.path = path; });
          if (!path) return emit session().message("No step was completed: there is no critical path");
          pathText_->setHtml(pathHtml(canvas_->scene()->data(), *path, canvas_->extras().unit));
          panels_->setCurrentIndex(kPath);
        });
  });
}

void TimelineView::updateFigures() {
  if (!canvas_->scene()) return figures_->clear();
  const std::size_t c = shownClass();
  const auto& classSteps = canvas_->scene()->classSteps();
  QString text;
  if (c < classSteps.size() && !classSteps[c].empty()) {
    const std::size_t s = shownStep(c);
    const Exposed::Step& step = classSteps[c][s];
    const double share =
        step.length == 0 ? 0 : 100 * static_cast<double>(step.exposed) / static_cast<double>(step.length);
    text = QString("step %1: %2 · exposed communication %3 (%4 % of the step)   ")
               .arg(s)
               .arg(QString::fromStdString(timeText(step.length)),
                    QString::fromStdString(timeText(step.exposed)))
               .arg(share, 0, 'f', 1);
  }
  text += "view " + QString::fromStdString(lengthText(session().zoom().length(), canvas_->extras().unit,
                                                      canvas_->scene()->lastStep()));
  figures_->setText(text);
}

void TimelineView::updateScrollBar() {
  const int room = canvas_->height() - canvas_->lanesTop();
  const QSignalBlocker quiet(scroll_);
  scroll_->setRange(0, std::max(0, canvas_->contentHeight() - room));
  scroll_->setPageStep(room);
  scroll_->setSingleStep(26);
  scroll_->setValue(canvas_->scroll());
  scroll_->setVisible(scroll_->maximum() > 0);
}

void TimelineView::drawExport(QPainter& painter, QSize size) {
  const Palette& palette = paletteOf(session().theme());
  painter.setFont(font());
  constexpr int kTitle = 26, kLegend = 24;
  painter.fillRect(QRect(QPoint(), size), palette.background);
  painter.setPen(palette.text);
  const Session::Run run = session().current();
  const QString name = run ? QString::fromStdString(run->title) : QString("no run");
  painter.drawText(QRect(8, 0, size.width() - 16, kTitle), Qt::AlignVCenter | Qt::AlignLeft,
                   name + " · timeline   " + figures_->text());
  const QSize inner(size.width(), std::max(1, size.height() - kTitle - kLegend));
  if (!canvas_->scene()) {
    painter.drawText(QRect(QPoint(0, kTitle), inner), Qt::AlignCenter, "nothing to show");
    return;
  }
  painter.save();
  painter.translate(0, kTitle);
  painter.setClipRect(QRect(QPoint(), inner));
  TimelineFrame frame = canvas_->frame(inner, 1);
  frame.moving = false;
  drawTimeline(painter, inner, frame);
  painter.restore();
  drawTimelineLegend(painter, QRect(0, size.height() - kLegend, size.width(), kLegend),
                     classesIn(*canvas_->scene()), palette,
                     frame.predicted != nullptr ? LegendOf::predicted : LegendOf::exposed);
}

View::TableJob TimelineView::tableJob() const {
  if (!canvas_->scene()) return [](const std::atomic<bool>&) { return emptySliceTable(); };
  if (const auto path = canvas_->extras().path)
    return [scene = canvas_->scene(), path](const std::atomic<bool>&) {
      return pathTable(scene->data(), *path);
    };
  TimeRange range = session().limit().value_or(session().zoom());
  std::optional<std::vector<std::size_t>> lanes;
  if (canvas_->area()) {
    range = canvas_->area()->range;
    lanes = canvas_->areaLanes();
  }
  return [scene = canvas_->scene(), range, lanes](const std::atomic<bool>& cancelled) {
    return sliceTable(*scene, range, lanes, cancelled);
  };
}

DataTable TimelineView::exportTable() const { return tableJob()(std::atomic<bool>(false)); }

std::unique_ptr<View> makeTimelineView(Session& session, QWidget* parent) {
  return std::make_unique<TimelineView>(session, parent);
}

}  // namespace vsim::gui
