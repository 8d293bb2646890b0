#include <QInputDialog>
#include <QKeyEvent>
#include <algorithm>

#include "gui/view/timeline/timeline_view.h"

// What the timeline's commands do, and their table.

namespace vsim::gui {
namespace {

TimeRange rangeOf(const TimelineScene& scene, SliceRef slice) {
  const LaneColumns& lane = scene.data().lanes[static_cast<std::size_t>(slice.lane)];
  const auto i = static_cast<std::size_t>(slice.slice);
  return {lane.begin[i], lane.end[i]};
}

constexpr double kZoomStep = 0.7, kPanStep = 0.15;

}  // namespace

void TimelineView::fit() {
  if (!canvas_->scene()) return;
  const SliceRef slice = canvas_->selected();
  if (!slice.valid() || fittedSelection_) {
    fittedSelection_ = false;
    return canvas_->fit(canvas_->scene()->data().whole);
  }
  fittedSelection_ = true;
  const TimeRange range = rangeOf(*canvas_->scene(), slice);
  canvas_->reveal(slice);
  canvas_->fit({range.begin - 2 * range.length(), range.end + 2 * range.length() + 1});
}

void TimelineView::stepSlice(int direction) {
  if (!canvas_->scene()) return;
  SliceRef slice = canvas_->selected();
  if (!slice.valid()) {  // the first one in view of the first stream
    const auto& lanes = canvas_->scene()->lanes();
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
      if (const auto run = lanes[lane].slicesIn(session().zoom()); run.count() > 0)
        return select({static_cast<std::int64_t>(lane), static_cast<std::int64_t>(run.first)});
    return;
  }
  slice.slice += direction;
  const auto size =
      static_cast<std::int64_t>(canvas_->scene()->data().lanes[static_cast<std::size_t>(slice.lane)].size());
  if (slice.slice >= 0 && slice.slice < size) select(slice);
}

void TimelineView::stepDependency(SliceSearch::Direction direction) {
  if (!canvas_->selected().valid()) return;
  needGraph([this, direction] {
    const SliceRef slice = canvas_->selected();
    const auto next = direction == SliceSearch::Direction::backward ? graph_->predecessors(slice)
                                                                    : graph_->successors(slice);
    if (next.empty())
      emit session().message(direction == SliceSearch::Direction::backward ? "Nothing ran before it"
                                                                           : "Nothing waits for it");
    else
      select(next.front());
  });
}

void TimelineView::selectionToArea() {
  const SliceRef slice = canvas_->selected();
  if (!slice.valid()) return;
  const auto& rows = canvas_->rows();
  const auto row = std::ranges::find_if(rows, [&](const TimelineRow& r) { return r.lane == slice.lane; });
  if (row == rows.end()) return;
  const std::size_t first = static_cast<std::size_t>(row - rows.begin());
  canvas_->setArea(TimelineCanvas::Area{rangeOf(*canvas_->scene(), slice), first, first + 1});
}

void TimelineView::limitToArea() {
  if (canvas_->area())
    session().setLimit(canvas_->area()->range);
  else if (canvas_->selected().valid())
    session().setLimit(rangeOf(*canvas_->scene(), canvas_->selected()));
  else
    emit session().message("Mark an area first: drag over the lanes");
}

void TimelineView::addMark() {
  if (!canvas_->scene()) return;
  core::Picoseconds time = session().zoom().begin + session().zoom().length() / 2;
  if (session().cursor()) time = *session().cursor();
  if (canvas_->selected().valid()) time = rangeOf(*canvas_->scene(), canvas_->selected()).begin;
  change([&](TimelineCanvas::Extras& extras) {
    const TimeMark mark{{time, time}};
    const auto same =
        std::ranges::find_if(extras.marks, [&](const TimeMark& m) { return m.range == mark.range; });
    if (same != extras.marks.end())
      extras.marks.erase(same);
    else
      extras.marks.push_back(mark);
  });
}

void TimelineView::addRangeMark() {
  if (!canvas_->scene()) return;
  TimeRange range;
  if (canvas_->area())
    range = canvas_->area()->range;
  else if (canvas_->selected().valid())
    range = rangeOf(*canvas_->scene(), canvas_->selected());
  if (range.empty()) return;
  change([&](TimelineCanvas::Extras& extras) { extras.marks.push_back({range}); });
}

void TimelineView::clearMarks() {
  change([](TimelineCanvas::Extras& extras) { extras.marks.clear(); });
}

void TimelineView::togglePath() {
  pathShown_ = !pathShown_;
  updatePath();
}

void TimelineView::togglePredicted() {
  if (!canvas_->scene() || canvas_->scene()->predicted() == nullptr)
    return emit session().message("Nothing was predicted for these slices: only runs with --real have both");
  change([](TimelineCanvas::Extras& extras) { extras.predicted = !extras.predicted; });
}

void TimelineView::toggleExposed() {
  change([](TimelineCanvas::Extras& extras) { extras.exposedOnly = !extras.exposedOnly; });
}

void TimelineView::nextArrows() {
  arrows_ = static_cast<Arrows>((static_cast<int>(arrows_) + 1) % 3);
  constexpr const char* kNames[] = {"off", "one hop", "full chain"};
  emit session().message(QString("Arrows: %1").arg(kNames[static_cast<int>(arrows_)]));
  updateArrows();
}

void TimelineView::nextUnit() {
  change([](TimelineCanvas::Extras& extras) {
    extras.unit =
        static_cast<TimeUnit>((static_cast<std::size_t>(extras.unit) + 1) % std::size(kTimeUnitNames));
  });
  emit session().message(
      QString("Times in: %1")
          .arg(QString::fromUtf8(kTimeUnitNames[static_cast<std::size_t>(canvas_->extras().unit)].data())));
  updateFigures();
  if (stats_) updateArea();
  if (pathShown_) updatePath();
}

void TimelineView::startSearch() {
  searchBar_->show();
  searchText_->setFocus(Qt::ShortcutFocusReason);
  searchText_->selectAll();
}

void TimelineView::search(const QString& text) {
  searches_.cancel();
  searchCount_->clear();
  if (!canvas_->scene() || text.trimmed().isEmpty())
    return change([](TimelineCanvas::Extras& extras) {
      extras.search.reset();
      extras.hits.reset();
    });
  struct Found {
    std::shared_ptr<const SliceSearch> search;
    std::shared_ptr<const SearchHits> hits;
  };
  searches_.start<Found>(
      [data = canvas_->scene()->sharedData(),
       query = text.toStdString()](const Background::Cancelled& cancelled) {
        Found found{std::make_shared<const SliceSearch>(data, query), nullptr};
        found.hits = std::make_shared<const SearchHits>(found.search->hits(cancelled));
        return found;
      },
      [this](Found found) {
        const std::int64_t count = found.hits->count;
        searchCount_->setText(count == 0 ? QString("no slice") : QString("%1 slices").arg(count));
        change([&](TimelineCanvas::Extras& extras) {
          extras.search = found.search;
          extras.hits = found.hits;
        });
      });
}

void TimelineView::stepSearch(SliceSearch::Direction direction) {
  const auto search = canvas_->extras().search;
  if (!search || !canvas_->scene()) return;
  const SliceRef selected = canvas_->selected();
  std::optional<SliceRef> hit;
  if (!selected.valid() && direction == SliceSearch::Direction::forward)
    hit = search->firstFrom(session().zoom().begin);
  if (!hit) hit = search->next(selected, direction);
  if (!hit) hit = search->next({}, direction);  // around the end
  if (hit) select(*hit);
}

void TimelineView::findTrack() {
  if (!canvas_->scene()) return;
  QStringList titles;
  for (const RankClassTracks& tracks : canvas_->scene()->classes())
    titles.push_back(QString::fromStdString(canvas_->scene()->data().tracks[tracks.track].title));
  auto* dialog = new QInputDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle("Go to ranks");
  dialog->setLabelText("Class of ranks");
  dialog->setComboBoxItems(titles);
  dialog->setComboBoxEditable(false);
  connect(dialog, &QInputDialog::textValueSelected, this, [this, titles](const QString& title) {
    const auto c = static_cast<std::size_t>(std::max<qsizetype>(0, titles.indexOf(title)));
    if (!canvas_->scene() || c >= canvas_->scene()->classes().size()) return;
    canvas_->setClosed(c, false);
    for (const TimelineRow& row : canvas_->rows())
      if (row.kind == TimelineRow::Kind::rankClass && row.rankClass == c) canvas_->setScroll(row.top);
  });
  dialog->open();
}

void TimelineView::setAllClosed(bool closed) {
  if (!canvas_->scene()) return;
  for (std::size_t c = 0; c < canvas_->scene()->classes().size(); ++c) canvas_->setClosed(c, closed);
}

void TimelineView::clear() {
  searchBar_->hide();
  searchText_->clear();
  canvas_->setArea(std::nullopt);
  session().select({});
  session().setCursor(std::nullopt);
  canvas_->setFocus();
}

bool TimelineView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == searchText_ && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
      stepSearch(key->modifiers() & Qt::ShiftModifier ? SliceSearch::Direction::backward
                                                      : SliceSearch::Direction::forward);
      return true;
    }
    if (key->key() == Qt::Key_Escape) {
      clear();
      return true;
    }
  }
  return View::eventFilter(watched, event);
}

std::vector<Command> TimelineView::commands() {
  using Direction = SliceSearch::Direction;
  const auto zoomTo = [this](double factor) { return [this, factor] { canvas_->zoomBy(factor); }; };
  const auto panBy = [this](double share) { return [this, share] { canvas_->panBy(share); }; };
  return {
      {"timeline.zoom-in", "Zoom in", "W; Ctrl++; Ctrl+=", "Shows less time, around the pointer.",
       zoomTo(kZoomStep)},
      {"timeline.zoom-out", "Zoom out", "S; Ctrl+-", "Shows more time.", zoomTo(1 / kZoomStep)},
      {"timeline.left", "Earlier", "A; Left", "Moves to earlier times.", panBy(-kPanStep)},
      {"timeline.right", "Later", "D; Right", "Moves to later times.", panBy(kPanStep)},
      {"timeline.fit", "Fit", "F", "Shows the selected slice; once more, or without one: everything.",
       [this] { fit(); }},
      {"timeline.step", "Show the last step", "Home", "Zooms to the last completed step.",
       [this] {
         if (canvas_->scene()) canvas_->fit(canvas_->scene()->lastStep());
       }},
      {"timeline.next", "Next slice", ".", "Selects the slice that follows in the stream.",
       [this] { stepSlice(1); }},
      {"timeline.previous", "Previous slice", ",", "Selects the slice before in the stream.",
       [this] { stepSlice(-1); }},
      {"timeline.predecessor", "What it waited for", "[",
       "Selects what had to end last before the slice could begin.",
       [this] { stepDependency(Direction::backward); }},
      {"timeline.successor", "What waits for it", "]",
       "Selects the first slice that had to wait for this one.",
       [this] { stepDependency(Direction::forward); }},
      {"timeline.search", "Search slices", "/; Ctrl+F", "Marks the slices whose names hold all words.",
       [this] { startSearch(); }},
      {"timeline.next-hit", "Next hit", "F3", "Selects the next slice that was found.",
       [this] { stepSearch(Direction::forward); }},
      {"timeline.previous-hit", "Previous hit", "Shift+F3", "Selects the slice found before.",
       [this] { stepSearch(Direction::backward); }},
      {"timeline.area", "Selection to area", "R", "Makes an area of the selected slice.",
       [this] { selectionToArea(); }},
      {"timeline.limit", "Limit to area", "L", "Statistics of all pages count only the area's time.",
       [this] { limitToArea(); }},
      {"timeline.mark", "Mark", "M", "Sets a mark at the selection or cursor, or takes it away.",
       [this] { addMark(); }},
      {"timeline.range-mark", "Mark the range", "Shift+M",
       "Marks begin, end and length of the area or selection.", [this] { addRangeMark(); }},
      {"timeline.clear-marks", "Clear marks", "", "Takes all marks away.", [this] { clearMarks(); }},
      {"timeline.path", "Critical path", "C", "Shows the chain of work that made the step as long as it is.",
       [this] { togglePath(); }},
      {"timeline.exposed", "Exposed only", "E", "Dims all but communication that nothing hides.",
       [this] { toggleExposed(); }},
      {"timeline.predicted", "Predicted slices", "Shift+G",
       "Of a real run: outlines of what was predicted, under what was measured.",
       [this] { togglePredicted(); }},
      {"timeline.arrows", "Arrows", "G",
       "Dependencies of the selection (one hop, full chain, off), and the other ranks of a collective.",
       [this] { nextArrows(); }},
      {"timeline.unit", "Unit of time", "U", "Times in ns, us, ms, % of the step, or what suits.",
       [this] { nextUnit(); }},
      {"timeline.find-track", "Go to ranks...", "Ctrl+P", "Scrolls to a class of ranks.",
       [this] { findTrack(); }},
      {"timeline.open-all", "Open all classes", "", "Shows the streams of every class of ranks.",
       [this] { setAllClosed(false); }},
      {"timeline.close-all", "Close all classes", "", "Folds the streams of every class away.",
       [this] { setAllClosed(true); }},
      {"timeline.clear", "Clear selection", "Esc", "Clears area, selection, cursor and search.",
       [this] { clear(); }},
  };
}

}  // namespace vsim::gui
