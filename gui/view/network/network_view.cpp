#include "gui/view/network/network_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/model/figure_text.h"
#include "gui/view/data_table_view.h"
#include "gui/view/message_page.h"

namespace vsim::gui {
namespace {

constexpr std::size_t kMostLost = 100;
constexpr int kAtCursor = 3;  // tab

}  // namespace

NetworkView::NetworkView(Session& session, QWidget* parent)
    : View(session, parent), build_(this), count_(this) {
  build();
  connect(&session, &Session::runsChanged, this, &NetworkView::takeRun);
  connect(&session, &Session::themeChanged, this, &NetworkView::takeTheme);
  connect(&session, &Session::zoomChanged, this, &NetworkView::refresh);
  connect(&session, &Session::selectionChanged, this, &NetworkView::takeSelection);
  connect(&session, &Session::cursorChanged, this, &NetworkView::refresh);
  connect(&session, &Session::limitChanged, this, &NetworkView::count);
  connect(tabs_, &QTabWidget::currentChanged, this, &NetworkView::showRunning);
  takeTheme();
  takeRun();
}

void NetworkView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  if (staleRun_) takeRun();
  if (stalePicture_) refresh();
}

void NetworkView::build() {
  auto* page = new QWidget(this);
  topology_ = new TopologyCanvas(page);
  loads_ = new LoadCanvas(page);
  lost_ = new DataTableModel(this);
  running_ = new DataTableModel(this);
  groups_ = new DataTableModel(this);
  tiers_ = new DataTableModel(this);
  tabs_ = new QTabWidget(page);
  auto* lost = dataTableView(lost_, "Collectives that lose the most time", tabs_);
  tabs_->addTab(lost, "Most lost");
  tabs_->addTab(dataTableView(groups_, "Collectives by kind and communicator", tabs_), "Communicators");
  tabs_->addTab(dataTableView(tiers_, "Links by tier", tabs_), "Links");
  tabs_->addTab(dataTableView(running_, "Collectives that run at the cursor", tabs_), "At the cursor");
  auto* bar = new QWidget(page);
  auto* line = new QHBoxLayout(bar);
  line->setContentsMargins(8, 4, 8, 2);
  auto* words = new QLabel("&Ranks", bar);
  classes_ = new QComboBox(bar);
  classes_->setAccessibleName("Class of ranks");
  classes_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  words->setBuddy(classes_);
  note_ = new QLabel(bar);
  note_->setWordWrap(true);
  line->addWidget(words);
  line->addWidget(classes_);
  line->addWidget(note_, 1);
  auto* split = new QSplitter(Qt::Vertical, page);
  split->addWidget(topology_);
  split->addWidget(loads_);
  split->addWidget(tabs_);
  split->setSizes({360, 260, 190});
  status_ = new QLabel(page);
  status_->setContentsMargins(8, 2, 8, 2);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(bar);
  column->addWidget(split, 1);
  column->addWidget(status_);
  pages_ = new QStackedWidget(this);
  pages_->addWidget(page);
  pages_->addWidget(new MessagePage(session(), problem_, this));
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(pages_);
  setFocusProxy(loads_);
  connect(topology_, &TopologyCanvas::tierPicked, this, &NetworkView::pickTier);
  connect(loads_, &LoadCanvas::tierPicked, this, &NetworkView::pickTier);
  connect(loads_, &LoadCanvas::zoomed, this, &NetworkView::zoom);
  connect(loads_, &LoadCanvas::panned, this, &NetworkView::pan);
  connect(loads_, &LoadCanvas::cursorAsked, this, [this](qint64 time) { session().setCursor(time); });
  connect(loads_, &LoadCanvas::limitAsked, this, [this](qint64 begin, qint64 end) {
    session().setLimit(TimeRange{begin, end});
  });
  connect(classes_, &QComboBox::currentIndexChanged, this, [this](int index) {
    if (!choosing_ && index >= 0) start(static_cast<std::size_t>(index));
  });
  connect(lost, &QTableView::activated, this, [this](const QModelIndex& index) {
    const auto flows = map_->mostLost(session().limit(), kMostLost);
    if (const std::size_t row = lost_->sourceRow(index.row()); row < flows.size()) goTo(flows[row]);
  });
}

void NetworkView::takeTheme() {
  const Palette& palette = paletteOf(session().theme());
  topology_->setPalette(palette);
  loads_->setPalette(palette);
  update();
}

void NetworkView::fail(const QString& problem) {
  problem_ = problem;
  map_.reset();
  matrix_.reset();
  log_.reset();
  topology_->show({}, nullptr);
  loads_->show({});
  pages_->setCurrentIndex(1);
  pages_->widget(1)->update();
}

void NetworkView::takeRun() {
  const auto run = session().current();
  const auto log = session().log();
  if (log && log == log_) return;
  build_.cancel();
  count_.cancel();
  staleRun_ = log && !isVisible();
  if (staleRun_) {  // of another run: nothing of it is shown when the page comes to the front
    log_.reset();
    map_.reset();
    matrix_.reset();
    return;
  }
  if (!run) return fail("No run is open\nOpen a run or a scenario to see what its network carries.");
  if (run->loading) return fail("Reading the log of this run \u2026\nIt may take a second or two.");
  if (!log)
    return fail(run->imported
                    ? "Traces of other programs do not say what went over which links\nOpen a run of "
                      "vsim to see its network."
                    : "The log of this run was not kept\nSimulate the scenario again to see its network.");
  if (!log->program || log->ranks.empty() || log->program->groups.empty())
    return fail("The log holds no ranks\nRuns that end before their first step leave nothing to show.");
  log_ = log;
  choosing_ = true;
  classes_->clear();
  for (const core::RankLog& rank : log->ranks)
    classes_->addItem(
        QString("%1 (%2 ranks from %3)")
            .arg(QString::fromStdString(rank.name), QString::fromStdString(core::formatCount(rank.ranks)))
            .arg(rank.firstRank));
  choosing_ = false;
  start(std::nullopt);
}

void NetworkView::start(std::optional<std::size_t> rankClass) {
  const auto run = session().current();
  const int report = session().report();
  status_->setText("Reading the log...");
  build_.start<Built>(
      [run, report, rankClass, log = log_](const Background::Cancelled&) {
        Built built;
        auto cluster = clusterOf(*run, report);
        std::optional<core::ClusterHardware> hardware;
        if (cluster)
          hardware = std::move(*cluster);
        else
          built.note = QString::fromStdString(cluster.error().message);
        const auto at = static_cast<std::size_t>(report);
        const std::int64_t gpus = at < run->reports.size() ? run->reports[at].facts.gpus : 0;
        built.map = std::make_shared<const NetworkMap>(log, rankClass.value_or(slowestClass(*log)),
                                                       std::move(hardware), gpus);
        return built;
      },
      [this](Built built) { takeMap(std::move(built)); });
}

void NetworkView::takeMap(Built built) {
  map_ = std::move(built.map);
  matrix_.reset();
  pages_->setCurrentIndex(0);
  choosing_ = true;
  for (std::size_t i = 0; i < log_->ranks.size(); ++i)
    if (&log_->ranks[i] == &map_->rank()) classes_->setCurrentIndex(static_cast<int>(i));
  choosing_ = false;
  topology_->setVisible(map_->known());
  loads_->setVisible(map_->known());
  bool crowded = false;
  for (std::size_t t = 0; t < kLinkTiers; ++t) {
    const NetworkTier& tier = map_->tier(static_cast<LinkTier>(t));
    crowded = crowded || (!tier.upperBound && sumOf(tier.load.summary(map_->whole()).peak) > 1.005);
  }
  note_->setText(map_->known()
                     ? "All ranks are taken to do as these." +
                           QString(crowded ? " Loads above 100 %: collectives that overlap were each "
                                             "timed as if they had the links alone."
                                           : "")
                     : "Rates of the links are unknown: " + built.note);
  takeSelection();
  count();
}

void NetworkView::count() {
  if (!map_) return;
  refresh();
  count_.start<Counted>(
      [map = map_, limit = session().limit()](const Background::Cancelled&) {
        return Counted{std::make_shared<const TrafficMatrix>(map->matrix(limit)),
                       map->lostTable(limit, kMostLost), map->groupTable(limit), map->tierTable(limit)};
      },
      [this](Counted counted) { takeCounted(std::move(counted)); });
}

void NetworkView::takeCounted(Counted counted) {
  matrix_ = std::move(counted.matrix);
  lost_->setTable(std::move(counted.lost));
  groups_->setTable(std::move(counted.groups));
  tiers_->setTable(std::move(counted.tiers));
  refresh();
  for (QTableView* table : tabs_->findChildren<QTableView*>()) table->resizeColumnsToContents();
}

std::optional<LinkTier> NetworkView::selectedTier() const {
  const Selection& selection = session().selection();
  if (selection.kind != Selection::Kind::link || selection.item < 0 ||
      selection.item >= static_cast<std::int64_t>(kLinkTiers))
    return std::nullopt;
  return static_cast<LinkTier>(selection.item);
}

NetworkPicture NetworkView::picture() const {
  return {.map = map_.get(),
          .limit = session().limit(),
          .cursor = session().cursor(),
          .selected = selectedTier(),
          .hovered = std::nullopt,
          .zoom = session().zoom().empty() && map_ ? map_->whole() : session().zoom(),
          .highlighted = highlighted_};
}

void NetworkView::takeSelection() {
  highlighted_.clear();
  const auto& chosen = session().links().collectives;
  if (map_)
    for (const NetworkFlow& flow : map_->flows())
      if (std::binary_search(chosen.begin(), chosen.end(), flow.instruction))
        highlighted_.push_back({flow.begin, flow.end});
  refresh();
}

void NetworkView::refresh() {
  stalePicture_ = !isVisible();
  if (!map_ || stalePicture_) return;
  topology_->show(picture(), matrix_);
  loads_->show(picture());
  showRunning();
  const auto tier = selectedTier();
  QString words = session().limit() ? "Statistics count the limit." : "Statistics count the last step.";
  if (tier && map_->tier(*tier).present)
    words += " Selected: " + QString::fromStdString(map_->tier(*tier).name) +
             " (the list at the cursor is of it).";
  else if (!highlighted_.empty())
    words += QString(" Framed: when the collectives of the selection ran (%1).").arg(highlighted_.size());
  else
    words += " Click a link to list what runs on it; Shift+drag over the curves limits the statistics.";
  status_->setText(words);
}

void NetworkView::showRunning() {
  if (!map_) return;
  const auto time = session().cursor();
  const std::size_t count = time ? map_->runningAt(*time, selectedTier()).size() : 0;
  tabs_->setTabText(kAtCursor, time ? QString("At the cursor (%1)").arg(count) : "At the cursor");
  if (tabs_->currentIndex() != kAtCursor) return;  // the list is made when it is looked at
  ++listsMade_;
  running_->setTable(time ? map_->runningTable(*time, selectedTier()) : DataTable{});
}

void NetworkView::pickTier(int tier) {
  const bool same = selectedTier() && static_cast<int>(*selectedTier()) == tier;
  if (same || tier < 0) return session().select({});
  session().select({.kind = Selection::Kind::link, .report = session().report(), .item = tier});
  if (session().cursor()) tabs_->setCurrentIndex(kAtCursor);
}

void NetworkView::goTo(std::size_t flow) {
  const NetworkFlow& f = map_->flows()[flow];
  session().setCursor(f.begin + f.length() / 2);
  const TimeRange zoom = picture().zoom;
  if (f.begin < zoom.begin || f.end > zoom.end) session().setZoom({f.begin - f.length(), f.end + f.length()});
}

std::unique_ptr<View> makeNetworkView(Session& session, QWidget* parent) {
  return std::make_unique<NetworkView>(session, parent);
}

}  // namespace vsim::gui
