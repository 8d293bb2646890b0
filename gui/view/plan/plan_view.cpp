#include "gui/view/plan/plan_view.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <utility>

#include "core/base/units.h"
#include "gui/view/data_table_view.h"
#include "gui/view/message_page.h"

namespace vsim::gui {
namespace {

/// Where most of the model is.
std::int64_t largestBucket(const app::PlannedSystem& plan) {
  std::int64_t best = 0;
  double most = -1;
  for (std::size_t i = 0; i < plan.buckets.size(); ++i) {
    const app::PlannedBucket& b = plan.buckets[i];
    const double size = static_cast<double>(b.copies) * static_cast<double>(b.layout.unitElements);
    if (size <= most) continue;
    most = size;
    best = static_cast<std::int64_t>(i);
  }
  return best;
}

QString text(const std::string& words) { return QString::fromStdString(words); }

}  // namespace

PlanView::PlanView(Session& session, QWidget* parent)
    : View(session, parent), plan_(this), maps_(this), studyJob_(this) {
  build();
  connect(&session, &Session::runsChanged, this, &PlanView::takeRun);
  connect(&session, &Session::themeChanged, this, &PlanView::takeTheme);
  connect(&session, &Session::selectionChanged, this, &PlanView::takeSelection);
  takeTheme();
  takeRun();
}

QWidget* PlanView::buildBar() {
  auto* bar = new QWidget(this);
  auto* line = new QHBoxLayout(bar);
  line->setContentsMargins(6, 4, 6, 2);
  const auto combo = [&](const QString& label, const QString& name) {
    auto* words = new QLabel(label, bar);
    auto* box = new QComboBox(bar);
    box->setAccessibleName(name);
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    words->setBuddy(box);
    line->addWidget(words);
    line->addWidget(box);
    return box;
  };
  buckets_ = combo("&Bucket", "Bucket");
  systems_[0] = combo("&System", "System of the upper map");
  systems_[1] = combo("beside", "System of the lower map");
  groupSizes_ = combo("&GPUs in the group", "Size of the FSDP group");
  search_ = new QLineEdit(bar);
  search_->setPlaceholderText("Find tensor (/)");
  search_->setAccessibleName("Find tensor");
  search_->setClearButtonEnabled(true);
  line->addWidget(search_, 1);
  connect(search_, &QLineEdit::returnPressed, this, &PlanView::find);
  connect(buckets_, &QComboBox::currentIndexChanged, this, [this] {
    if (!choosing_) makeMaps();
  });
  for (std::size_t side = 0; side < 2; ++side)
    connect(systems_[side], &QComboBox::currentIndexChanged, this, [this, side] {
      if (choosing_) return;
      if (side == 0) fillBuckets();
      makeMaps();
    });
  connect(groupSizes_, &QComboBox::currentIndexChanged, this, [this] {
    if (!choosing_) showGroupSize(groupSizes_->currentData().toLongLong());
  });
  return bar;
}

void PlanView::build() {
  canvas_ = new PlanCanvas(this);
  sizes_ = new GroupSizeCanvas(this);
  facts_ = new DataTableModel(this);
  comparison_ = new DataTableModel(this);
  sizeTable_ = new DataTableModel(this);
  tensors_ = new DataTableModel(this);
  tabs_ = new QTabWidget(this);
  tabs_->addTab(dataTableView(facts_, "Facts of the bucket", tabs_), "Facts");
  tabs_->addTab(dataTableView(comparison_, "Systems compared", tabs_), "Systems");
  auto* tensorTable = dataTableView(tensors_, "Tensors of the bucket", tabs_);
  tabs_->addTab(tensorTable, "Tensors");
  tabs_->addTab(dataTableView(sizeTable_, "Padding by group size", tabs_), "Group sizes");
  auto* page = new QWidget(this);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(buildBar());
  auto* split = new QSplitter(Qt::Vertical, page);
  auto* below = new QSplitter(Qt::Horizontal, split);
  below->addWidget(tabs_);
  below->addWidget(sizes_);
  below->setStretchFactor(0, 3);
  below->setStretchFactor(1, 2);
  below->setSizes({740, 540});
  split->addWidget(canvas_);
  split->addWidget(below);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 2);
  split->setSizes({600, 330});
  column->addWidget(split, 1);
  status_ = new QLabel(page);
  status_->setContentsMargins(8, 2, 8, 2);
  status_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  column->addWidget(status_);
  pages_ = new QStackedWidget(this);
  pages_->addWidget(page);
  pages_->addWidget(new MessagePage(session(), problem_, this));
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(pages_);
  setFocusProxy(canvas_);
  connect(canvas_, &PlanCanvas::tensorPicked, this, &PlanView::pickTensor);
  connect(sizes_, &GroupSizeCanvas::chosen, this, &PlanView::showGroupSize);
  connect(tensorTable, &QTableView::clicked, this, [this](const QModelIndex& index) {
    select(tensors_->table().rows[tensors_->sourceRow(index.row())][2]);
  });
  facts_->setExtra([this](std::size_t row, int column, int role) -> QVariant {
    const auto& cells = facts_->table().rows[row];
    const auto at = static_cast<std::size_t>(std::max(0, column));
    if (role == Qt::ToolTipRole && at > 0 && at < cells.size()) return text(cells[at]);  // columns may cut it
    if (role != Qt::ForegroundRole || (at < cells.size() && cells[at] == "0")) return {};
    const auto bad = badFacts(facts_->table());
    return bad[row] ? QVariant(paletteOf(session().theme()).exposed) : QVariant();
  });
}

void PlanView::takeTheme() {
  const Palette& palette = paletteOf(session().theme());
  canvas_->setPalette(palette);
  sizes_->setPalette(palette);
  update();
}

void PlanView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange)
    for (QTableView* table : findChildren<QTableView*>())
      table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + 6);
  View::changeEvent(event);
}

void PlanView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  if (stale_) takeRun();
}

void PlanView::fail(const QString& problem) {
  problem_ = problem;
  pages_->setCurrentIndex(1);
  pages_->widget(1)->update();
}

void PlanView::takeRun() {
  const auto run = session().current();
  stale_ = run != nullptr && !isVisible();
  if (stale_) return;
  if (!run) {
    source_.reset();
    plan_.cancel();
    studyJob_.cancel();
    maps_.cancel();
    return fail("No run is open\nOpen a run or a scenario to see where its tensors lie.");
  }
  auto source = planSource(*run, session().report());
  if (!source) {
    source_.reset();
    return fail(text(source.error().message) + "\n" + text(source.error().hint));
  }
  if (source_ && *source_ == *source) {  // another system of the same plans
    source_ = std::move(*source);
    if (planned_) takePlans();
    return;
  }
  source_ = std::move(*source);
  all_.clear();
  planned_.reset();
  study_.reset();
  sizes_->setStudy(nullptr);
  size_ = 0;
  selectionWaits_ = true;
  showGroupSize(0);
  startStudy();
}

void PlanView::showGroupSize(std::int64_t size) {
  if (!source_) return;
  size_ = size;
  if (const auto known = all_.find(size); known != all_.end()) {
    planned_ = known->second;
    return takePlans();
  }
  status_->setText("Planning...");
  plan_.start<std::shared_ptr<const Planned>>(
      [source = *source_, size](const Background::Cancelled& cancelled) {
        auto planned = std::make_shared<Planned>();  // handed to the window's thread, then immutable
        auto set = makePlanSet(source, size, cancelled);
        if (!set) {
          planned->problem = text(core::text(set.error()));
        } else {
          planned->set = std::move(*set);
          planned->comparison = comparisonTable(planned->set);
        }
        return std::shared_ptr<const Planned>(std::move(planned));
      },
      [this, size](std::shared_ptr<const Planned> planned) {
        all_[size] = planned;
        planned_ = std::move(planned);
        takePlans();
      });
}

void PlanView::startStudy() {
  studyJob_.start<std::shared_ptr<const GroupSizeStudy>>(
      [source = *source_](const Background::Cancelled& cancelled) {
        return std::make_shared<const GroupSizeStudy>(studyGroupSizes(source, cancelled));
      },
      [this](std::shared_ptr<const GroupSizeStudy> study) {
        study_ = std::move(study);
        sizes_->setStudy(study_);
        sizeTable_->setTable(groupSizeTable(*study_));
        fillSystems();
      });
}

void PlanView::takePlans() {
  if (!planned_->problem.isEmpty() || planned_->set.choices.empty())
    return fail("The scenario cannot be planned\n" + planned_->problem);
  pages_->setCurrentIndex(0);
  comparison_->setTable(planned_->comparison);
  sizes_->setChosen(planned_->set.devices);
  fillSystems();
  fillBuckets();
  makeMaps();
}

void PlanView::fillSystems() {
  choosing_ = true;
  groupSizes_->clear();
  groupSizes_->addItem(size_ == 0 && set() ? QString("%1 (scenario)").arg(set()->devices) : "scenario's",
                       QVariant::fromValue<qlonglong>(0));
  if (study_)
    for (const std::int64_t size : study_->sizes)
      groupSizes_->addItem(text(core::formatCount(size)), QVariant::fromValue<qlonglong>(size));
  groupSizes_->setCurrentIndex(std::max(0, groupSizes_->findData(QVariant::fromValue<qlonglong>(size_))));
  const std::array<QString, 2> before{systems_[0]->currentText(), systems_[1]->currentText()};
  for (std::size_t side = 0; side < 2 && set(); ++side) {
    QComboBox& box = *systems_[side];
    box.clear();
    if (side == 1) box.addItem("nothing");
    for (const PlanChoice& choice : set()->choices) box.addItem(text(choice.label));
    int index = box.findText(before[side]);
    if (index < 0 && side == 0) index = std::max(0, box.findText(text(source_->system)));
    if (index < 0) {  // what the scenario compares it with, else FSDP2's rule
      for (const PlanChoice& choice : set()->choices)
        if (index < 0 && text(choice.label) != systems_[0]->currentText() &&
            (choice.asRun || choice.plan.system == "fsdp2"))
          index = box.findText(text(choice.label));
    }
    box.setCurrentIndex(std::max(0, index));
  }
  choosing_ = false;
}

void PlanView::fillBuckets() {
  const BucketOf upper = bucketOf(0);
  choosing_ = true;
  const QString before = buckets_->currentData().toString();
  buckets_->clear();
  if (set() && upper.choice >= 0) {
    const app::PlannedSystem& plan = upper.system().plan;
    for (const app::PlannedBucket& bucket : plan.buckets)
      buckets_->addItem(bucket.copies > 1 ? QString("%1 (%2 alike)").arg(text(bucket.name)).arg(bucket.copies)
                                          : text(bucket.name),
                        text(bucket.name));
    const int same = buckets_->findData(before);
    buckets_->setCurrentIndex(same >= 0 ? same : static_cast<int>(largestBucket(plan)));
  }
  choosing_ = false;
}

BucketOf PlanView::bucketOf(std::size_t side) const {
  BucketOf of;
  if (!set()) return of;
  of.set = set();
  of.choice = set()->find(systems_[side]->currentText().toStdString());
  if (of.choice < 0) return of;
  if (side == 0) {
    of.bucket = buckets_->currentIndex();
    if (of.bucket >= static_cast<std::int64_t>(of.system().plan.buckets.size())) of.bucket = -1;
  } else {
    of.bucket =
        bucketLike(of.system(), buckets_->currentData().toString().toStdString(), canvas_->selected());
  }
  return of;
}

void PlanView::makeMaps() {
  if (!planned_) return;
  const std::array<BucketOf, 2> of{bucketOf(0), bucketOf(1)};
  maps_.start<Maps>(
      [planned = planned_, of](const Background::Cancelled&) {
        Maps maps;
        for (std::size_t side = 0; side < 2; ++side) {
          if (of[side].choice < 0) continue;
          const app::PlannedSystem& plan = of[side].system().plan;
          if (!of[side].valid()) {
            maps.problem[side] = plan.refusal.empty() ? "There is no such bucket under this system."
                                                      : text("Refused: " + plan.refusal);
            continue;
          }
          auto map = PlanMap::make(of[side].planned(), plan.system, plan.parameterBytes);
          if (map)
            maps.map[side] = std::make_shared<const PlanMap>(std::move(*map));
          else
            maps.problem[side] = text(map.error().message);
        }
        maps.facts = factsTable(of[0], maps.map[0].get(), of[1], maps.map[1].get());
        for (std::size_t side = 0; side < 2; ++side) {
          if (!maps.map[side]) continue;
          DataTable tensors = tensorTable(of[side], *maps.map[side]);
          if (side == 0)
            maps.tensors = std::move(tensors);
          else
            maps.tensors.rows.insert(maps.tensors.rows.end(), tensors.rows.begin(), tensors.rows.end());
          maps.tensors.header = tensors.header.empty() ? maps.tensors.header : tensors.header;
        }
        return maps;
      },
      [this](Maps maps) { takeMaps(std::move(maps)); });
}

void PlanView::takeMaps(Maps maps) {
  std::array<PlanCanvas::Side, 2> sides;
  for (std::size_t side = 0; side < 2; ++side) {
    const BucketOf of = bucketOf(side);
    PlanCanvas::Side& s = sides[side];
    s.shown = of.choice >= 0;
    if (!s.shown) continue;
    s.map = maps.map[side];
    s.message = maps.problem[side];
    s.title = text(of.system().label);
    if (!s.map) continue;
    const PlanFacts& facts = s.map->facts();
    const app::PlannedBucket& b = of.planned();
    s.title += QString("  -  %1: %2 devices, shard %3, padding %4 (%5), %6 tensors on several devices, %7")
                   .arg(text(b.name), text(core::formatCount(b.layout.devices)),
                        text(core::formatBytes(facts.shardElements * facts.elementBytes)),
                        text(planPercent(b.layout.paddingRatio())),
                        b.layout.gapRatio() <= 0 || b.provenOptimal ? QString("optimal")
                                                                    : text(planGap(b)) + " above the bound",
                        text(core::formatCount(facts.splitTensors)),
                        facts.cutBlocks == 0 ? QString("no block cut")
                                             : text(core::formatCount(facts.cutBlocks)) + " BLOCKS CUT");
  }
  canvas_->setSides(std::move(sides[0]), std::move(sides[1]), text(planned_->set.dtype));
  facts_->setTable(std::move(maps.facts));
  tensors_->setTable(std::move(maps.tensors));
  for (QTableView* table : tabs_->findChildren<QTableView*>())
    if (table->model() != facts_ && table->model()->rowCount() < 500) table->resizeColumnsToContents();
  showFacts();
  status_->setText(
      canvas_->selected().empty()
          ? QString("Click a tensor to highlight it in both maps; Ctrl+wheel zooms to single elements.")
          : "Selected: " + text(canvas_->selected()));
  takeSelection();
}

/// Both layouts side by side, as wide as the table.
void PlanView::showFacts() {
  for (QTableView* table : tabs_->findChildren<QTableView*>()) {
    if (table->model() != facts_) continue;
    for (int column = 0; column < facts_->columnCount(); ++column)
      table->horizontalHeader()->setSectionResizeMode(
          column, column == 0 ? QHeaderView::ResizeToContents : QHeaderView::Stretch);
  }
}

std::int64_t PlanView::unitOfBucket() const {
  const BucketOf of = bucketOf(0);
  if (!of.valid()) return -1;
  const auto log = session().log();
  if (log && log->program)
    for (std::size_t i = 0; i < log->program->units.size(); ++i)
      if (log->program->units[i].name == of.planned().name) return static_cast<std::int64_t>(i);
  for (std::size_t i = 0; i < of.system().plan.units.size(); ++i)
    if (of.system().plan.units[i].second == static_cast<std::size_t>(of.bucket))
      return static_cast<std::int64_t>(i);
  return -1;
}

void PlanView::pickTensor(std::size_t side, qint64 tensor) {
  select(tensor < 0 ? std::string() : canvas_->side(side).map->tensor(tensor).name);
}

void PlanView::select(const std::string& tensor) {
  canvas_->selectTensor(tensor);
  status_->setText(tensor.empty() ? QString() : "Selected: " + text(tensor));
  const auto& upper = canvas_->side(0).map;
  const std::int64_t index = upper ? upper->tensorNamed(tensor) : -1;
  if (const std::int64_t unit = unitOfBucket(); unit >= 0 && index >= 0)
    session().select(
        {.kind = Selection::Kind::unit, .report = session().report(), .item = unit, .detail = index});
  // Systems that split buckets may hold it in another one.
  const auto& lower = canvas_->side(1);
  if (lower.shown && !tensor.empty() && (!lower.map || lower.map->tensorNamed(tensor) < 0) && !maps_.busy())
    makeMaps();
}

void PlanView::takeSelection() {
  const Selection& selection = session().selection();
  const auto log = session().log();
  const bool unit = selection.kind == Selection::Kind::unit;  // picked as such; others belong to one
  const std::int64_t item = unit                                    ? selection.item
                            : session().links().unit != core::kNone ? std::int64_t{session().links().unit}
                                                                    : -1;
  if (item < 0) return;
  if (stale_ || !set() || maps_.busy()) {
    selectionWaits_ = true;
    return;
  }
  const BucketOf of = bucketOf(0);
  if (of.choice < 0) return;
  const app::PlannedSystem& plan = of.system().plan;
  std::string name;
  if (log && log->program && static_cast<std::size_t>(item) < log->program->units.size())
    name = log->program->units[static_cast<std::size_t>(item)].name;
  else if (static_cast<std::size_t>(item) < plan.units.size())
    name = plan.units[static_cast<std::size_t>(item)].first;
  const auto bucket = std::ranges::find(plan.units, name, &std::pair<std::string, std::size_t>::first);
  if (bucket == plan.units.end()) return;
  if (static_cast<int>(bucket->second) != buckets_->currentIndex()) {
    selectionWaits_ = true;  // for its map
    buckets_->setCurrentIndex(static_cast<int>(bucket->second));
    return;
  }
  const auto& map = canvas_->side(0).map;
  std::int64_t tensor = unit ? selection.detail : -1;
  if (const std::int64_t ofProgram = session().links().tensor; !unit && map && ofProgram >= 0) {
    // The map has its own order of the unit's tensors.
    const auto& units = log->program->units;
    const auto& table = log->program->tensorTables[units[static_cast<std::size_t>(item)].tensorTable];
    if (static_cast<std::size_t>(ofProgram) < table.size())
      tensor = map->tensorNamed(table[static_cast<std::size_t>(ofProgram)].name);
  }
  if (map && tensor >= 0 && static_cast<std::size_t>(tensor) < map->tensors().size()) {
    canvas_->selectTensor(map->tensor(tensor).name);
    status_->setText("Selected: " + text(canvas_->selected()));
  } else if (!unit) {
    status_->setText("The selection belongs to unit " + text(name) + ", whose tensors these are.");
  }
}

bool PlanView::settled() const { return !plan_.busy() && !maps_.busy() && !studyJob_.busy(); }

std::unique_ptr<View> makePlanView(Session& session, QWidget* parent) {
  return std::make_unique<PlanView>(session, parent);
}

}  // namespace vsim::gui
