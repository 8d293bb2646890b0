#include <QApplication>
#include <QLineEdit>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>
#include <catch2/catch.hpp>

#include "app/run.h"
#include "gui/model/imported_timeline.h"
#include "gui/model/stored_levels.h"
#include "gui/session/watchdog.h"
#include "gui/view/timeline/timeline_panels.h"
#include "gui/view/timeline/timeline_view.h"

using namespace vsim;
using namespace vsim::gui;

namespace {

Session::Run simulated(const std::string& scenario) {
  auto results = app::run({.scenario = scenario, .keepLogs = true}, {});
  if (!results) FAIL(scenario << ": " << results.error().front().message);
  auto run = std::make_shared<OpenedRun>();
  run->title = scenario;
  for (app::RunResult& result : *results) {
    run->reports.push_back(std::move(result.report));
    run->logs.push_back(std::move(result.log));
  }
  return run;
}

Session::Run without(const char* what) {
  auto run = std::make_shared<OpenedRun>(*simulated("tiny"));
  auto log = std::make_shared<core::ExecutionLog>(*run->logs[0]);
  if (std::string(what) == "slices")
    for (core::RankLog& ranks : log->ranks) ranks = core::RankLog();
  run->logs = {std::string(what) == "log" ? nullptr : log};
  return run;
}

/// The page on a run, painted and at rest.
struct Page {
  explicit Page(const Session::Run& run) : view(session, nullptr) {
    view.resize(1280, 800);
    view.show();
    session.open(run);
    settle();
  }
  void settle() {
    for (int i = 0; i < 2000 && !view.settled(); ++i) QTest::qWait(5);
    REQUIRE(view.settled());
    view.repaint();
  }
  void run(const char* id) {
    for (const Command& command : view.commands())
      if (command.id == id) {
        command.run();
        settle();
        return;
      }
    FAIL("no command " << id);
  }
  TimelineCanvas& canvas() { return view.canvas(); }
  QPointF middleOf(SliceRef slice) {
    const TimelineFrame frame = canvas().frame(canvas().size(), 1);
    const LaneColumns& lane = canvas().scene()->data().lanes[static_cast<std::size_t>(slice.lane)];
    const auto i = static_cast<std::size_t>(slice.slice);
    for (const TimelineRow& row : canvas().rows())
      if (row.lane == slice.lane)
        return {canvas().margins().tree + frame.axis.toX((lane.begin[i] + lane.end[i]) / 2),
                static_cast<double>(canvas().lanesTop() + row.top + row.height / 2 - canvas().scroll())};
    return {};
  }
  /// The longest slice in view of the first stream.
  SliceRef longest() {
    const auto lane = static_cast<std::int64_t>(canvas().scene()->classes()[0].lanes[0]);
    const LaneIndex& index = canvas().scene()->lanes()[static_cast<std::size_t>(lane)];
    const auto slices = index.slicesIn(session.zoom());
    SliceRef best{lane, static_cast<std::int64_t>(slices.first)};
    const auto length = [&](std::size_t i) { return index.lane().end[i] - index.lane().begin[i]; };
    for (std::size_t i = slices.first; i < slices.last; ++i)
      if (length(i) > length(static_cast<std::size_t>(best.slice))) best.slice = static_cast<std::int64_t>(i);
    return best;
  }
  Session session;
  TimelineView view;
};

void drag(QWidget& widget, QPoint from, QPoint to, Qt::KeyboardModifiers with = {}) {
  QTest::mousePress(&widget, Qt::LeftButton, with, from);
  for (int i = 1; i <= 4; ++i) {
    const QPointF at = from + (to - from) * i / 4;
    QMouseEvent move(QEvent::MouseMove, at, widget.mapToGlobal(at), Qt::NoButton, Qt::LeftButton, with);
    QApplication::sendEvent(&widget, &move);
  }
  QTest::mouseRelease(&widget, Qt::LeftButton, with, to);
}

}  // namespace

TEST_CASE("timeline: every kind of run opens, and every command runs on it") {
  const auto nothing = std::make_shared<OpenedRun>();
  for (const Session::Run& run :
       {Session::Run(nothing), without("log"), without("slices"), simulated("tiny"), simulated("moe_10k")}) {
    Page page(run);
    for (const Command& command : page.view.commands()) {
      CAPTURE(command.id.toStdString());
      CHECK_FALSE(command.name.isEmpty());
      CHECK_FALSE(command.help.isEmpty());
      command.run();
      for (QWidget* dialog : QApplication::topLevelWidgets())
        if (dialog != &page.view) dialog->close();
      page.settle();
    }
    CHECK_FALSE(page.view.grab().isNull());
    QImage image(800, 500, QImage::Format_RGB32);
    QPainter painter(&image);
    page.view.drawExport(painter, image.size());
    CHECK_FALSE(page.view.exportTable().header.empty());
  }
}

TEST_CASE("timeline: without a run it says what to do") {
  Session session;
  TimelineView view(session, nullptr);
  CHECK(view.settled());
  CHECK_FALSE(view.canvas().scene());
  for (const Command& command : view.commands()) {
    if (command.id != "timeline.find-track") command.run();
  }
  CHECK(view.exportTable().rows.empty());
}

TEST_CASE("timeline: it opens on the last step; keys zoom and pan; rest refines in place") {
  Page page(simulated("tiny"));
  const TimeRange step = page.canvas().scene()->lastStep();
  CHECK(page.session.zoom().begin <= step.begin);
  CHECK(page.session.zoom().end >= step.end);
  CHECK(page.session.zoom().length() < 11 * step.length() / 10);
  const TimeRange before = page.session.zoom();
  page.run("timeline.zoom-in");
  CHECK(page.session.zoom().length() < before.length());
  page.run("timeline.zoom-out");
  page.run("timeline.left");
  CHECK(page.session.zoom().begin < before.begin);
  page.run("timeline.fit");
  CHECK(page.session.zoom().begin <= page.canvas().scene()->data().whole.begin);
  CHECK(page.session.zoom().end >= page.canvas().scene()->data().whole.end);
  page.canvas().zoomBy(0.5);
  CHECK(page.canvas().moving());
  page.settle();
  CHECK_FALSE(page.canvas().moving());
}

TEST_CASE("timeline: a click selects the slice under the pointer, steps go along the stream") {
  Page page(simulated("tiny"));
  const SliceRef slice = page.longest();
  QTest::mouseClick(&page.canvas(), Qt::LeftButton, {}, page.middleOf(slice).toPoint());
  page.settle();
  CHECK(page.canvas().selected() == slice);
  const QString name =
      QString::fromStdString(page.canvas().scene()->data().sliceName(slice.lane, slice.slice));
  CHECK(page.view.detailsPanel().toPlainText().startsWith(name));
  CHECK(page.view.detailsPanel().toPlainText().contains("why it began then"));
  page.run("timeline.next");
  CHECK(page.canvas().selected() == SliceRef{slice.lane, slice.slice + 1});
  page.run("timeline.previous");
  CHECK(page.canvas().selected() == slice);
  const auto before = page.view.graph()->predecessors(slice);
  if (!before.empty()) {
    page.run("timeline.predecessor");
    CHECK(page.canvas().selected() == before.front());
  }
  page.run("timeline.clear");
  CHECK_FALSE(page.canvas().selected().valid());
  CHECK(page.view.detailsPanel().toPlainText().isEmpty());
}

TEST_CASE("timeline: the selection of another view shows here") {
  Page page(simulated("tiny"));
  const SliceRef slice = page.longest();
  page.session.select({.kind = Selection::Kind::slice, .report = 0, .lane = slice.lane, .item = slice.slice});
  page.settle();
  CHECK(page.canvas().selected() == slice);
  CHECK_FALSE(page.view.canvas().extras().arrows.empty());
  page.session.select({.kind = Selection::Kind::slice, .report = 0, .lane = 1'000, .item = 1});
  page.settle();
  CHECK_FALSE(page.canvas().selected().valid());
  page.session.select({.kind = Selection::Kind::slice, .report = 0, .lane = 0, .item = 1'000'000'000});
  page.settle();
  CHECK_FALSE(page.canvas().selected().valid());
}

TEST_CASE("timeline: dragging marks an area whose statistics arrive; L limits to it") {
  Page page(simulated("tiny"));
  const int left = page.canvas().margins().tree + 100, top = page.canvas().lanesTop() + 30;
  drag(page.canvas(), {left, top}, {left + 400, top + 100});
  page.settle();
  REQUIRE(page.canvas().area());
  const TimeAxis axis = page.canvas().frame(page.canvas().size(), 1).axis;
  CHECK(page.canvas().area()->range == TimeRange{axis.toTime(100), axis.toTime(500)});
  REQUIRE(page.view.statistics());
  CHECK(page.view.statistics()->range == page.canvas().area()->range);
  CHECK(page.view.statistics()->lanes == page.canvas().areaLanes().size());
  page.run("timeline.limit");
  REQUIRE(page.session.limit());
  CHECK(*page.session.limit() == page.canvas().area()->range);
  page.run("timeline.range-mark");
  CHECK(page.canvas().extras().marks.size() == 1);
  QTest::mouseClick(&page.canvas(), Qt::LeftButton, {}, {left, top});
  CHECK_FALSE(page.canvas().area());
}

TEST_CASE("timeline: the area's flame graph widens a bar by click and key, and narrows again") {
  Page page(simulated("tiny"));
  CHECK(page.view.flame().isHidden());
  const int y = page.canvas().lanesTop() + 10, left = page.canvas().margins().tree + 50;
  drag(page.canvas(), {left, y}, {left + 600, y + 60});
  page.settle();
  FlameWidget& flame = page.view.flame();
  REQUIRE_FALSE(flame.isHidden());
  REQUIRE(flame.flame().nodes.size() > 3);
  const int row = flame.fontMetrics().height() + 4;
  QTest::mouseClick(&flame, Qt::LeftButton, {}, {4, row + row / 2});
  CHECK(flame.zoom() == 1);
  QTest::mouseClick(&flame, Qt::LeftButton, {}, {4, row / 2});
  CHECK(flame.zoom() == 0);
  QTest::keyClick(&flame, Qt::Key_Down);
  QTest::keyClick(&flame, Qt::Key_Down);
  QTest::keyClick(&flame, Qt::Key_Return);
  CHECK(flame.flame().nodes[flame.zoom()].depth == 2);
  CHECK(flame.accessibleDescription().contains("% of the area's work"));
  QTest::keyClick(&flame, Qt::Key_Backspace);
  CHECK(flame.flame().nodes[flame.zoom()].depth == 1);
}

TEST_CASE(
    "timeline: a click on a stream's title shows its statistics, the pointer there tells them in a line") {
  Page page(simulated("tiny"));
  const auto row = std::ranges::find(page.canvas().rows(), TimelineRow::Kind::stream, &TimelineRow::kind);
  REQUIRE(row != page.canvas().rows().end());
  const QPoint title(60, page.canvas().lanesTop() + row->top + row->height / 2);
  const QSignalSpy told(&page.canvas(), &TimelineCanvas::hoverChanged);
  QTest::mouseMove(&page.canvas(), title - QPoint(1, 0));
  QTest::mouseMove(&page.canvas(), title);
  REQUIRE_FALSE(told.empty());
  CHECK(told.back()[0].toString().contains("of the last step"));
  QTest::mouseClick(&page.canvas(), Qt::LeftButton, {}, title);
  page.settle();
  CHECK(page.canvas().areaLanes() == std::vector<std::size_t>{static_cast<std::size_t>(row->lane)});
  REQUIRE(page.view.statistics());
  CHECK(page.view.statistics()->lanes == 1);
}

TEST_CASE("timeline: Shift and drag pans; Ctrl and wheel zooms at the pointer; the wheel scrolls") {
  Page page(simulated("moe_10k"));
  const TimeRange before = page.session.zoom();
  const QPoint from(page.canvas().margins().tree + 300, page.canvas().lanesTop() + 60);
  drag(page.canvas(), from, from - QPoint(100, 0), Qt::ShiftModifier);
  CHECK(page.session.zoom().begin > before.begin);
  CHECK_FALSE(page.canvas().area());
  const TimeAxis axis = page.canvas().frame(page.canvas().size(), 1).axis;
  const core::Picoseconds under = axis.toTime(300);
  QWheelEvent wheel(from, page.canvas().mapToGlobal(from), {}, {0, 240}, Qt::NoButton, Qt::ControlModifier,
                    Qt::NoScrollPhase, false);
  QApplication::sendEvent(&page.canvas(), &wheel);
  const TimeAxis after = page.canvas().frame(page.canvas().size(), 1).axis;
  CHECK(after.view.length() < axis.view.length());
  CHECK(after.toX(under) == Approx(300).margin(1.5));
}

TEST_CASE("timeline: the critical path is listed and drawn, arrows go round, the search finds") {
  Page page(simulated("tiny"));
  page.run("timeline.path");
  REQUIRE(page.canvas().extras().path);
  const StepPath& path = *page.canvas().extras().path;
  core::Picoseconds sum = 0;
  for (const PathSegment& segment : path.segments) sum += segment.range.length();
  CHECK(core::secondsFromPicoseconds(sum) == page.session.current()->reports[0].stepSeconds);
  CHECK(page.view.exportTable().rows.size() == path.segments.size());
  page.run("timeline.path");
  CHECK_FALSE(page.canvas().extras().path);

  page.run("timeline.next");
  for (int i = 0; i < 3; ++i) page.run("timeline.arrows");
  page.run("timeline.search");
  auto* line = page.view.findChild<QLineEdit*>();
  REQUIRE(line != nullptr);
  line->setText("reduce-scatter");
  page.settle();
  QTest::keyClick(line, Qt::Key_Return);
  page.settle();
  const SliceRef hit = page.canvas().selected();
  REQUIRE(hit.valid());
  CHECK(QString::fromStdString(page.canvas().scene()->data().sliceName(hit.lane, hit.slice))
            .startsWith("REDUCE-SCATTER"));
  QTest::keyClick(line, Qt::Key_Return);
  page.settle();
  CHECK_FALSE(page.canvas().selected() == hit);
  QTest::keyClick(line, Qt::Key_Return, Qt::ShiftModifier);
  page.settle();
  CHECK(page.canvas().selected() == hit);
  CHECK(sliceOfLink(sliceLink(hit)) == hit);
  CHECK_FALSE(sliceOfLink("slice:1:x").valid());
}

TEST_CASE("timeline: classes open and close by click and command") {
  Page page(simulated("moe_10k"));
  const std::size_t rows = page.canvas().rows().size();
  const TimelineRow first = page.canvas().rows().front();
  REQUIRE(first.kind == TimelineRow::Kind::rankClass);
  const bool closed = page.canvas().isClosed(0);
  QTest::mouseClick(&page.canvas(), Qt::LeftButton, {},
                    {20, page.canvas().lanesTop() + first.top + first.height / 2});
  CHECK(page.canvas().isClosed(0) != closed);
  CHECK(page.canvas().rows().size() != rows);
  page.run("timeline.close-all");
  CHECK(page.canvas().rows().size() == page.canvas().scene()->classes().size());
}

TEST_CASE("timeline: a trace of another program shows, without what it cannot know") {
  const auto trace = traces::importChromeTraceText(
      R"([{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":0,"dur":100},
          {"ph":"X","cat":"kernel","name":"ncclKernel_AllReduce","pid":0,"tid":8,"ts":50,"dur":100}])",
      "trace.json");
  REQUIRE(trace);
  auto run = std::make_shared<OpenedRun>();
  run->imported = importedTimeline(*trace).data;
  Page page(run);
  REQUIRE(page.canvas().scene());
  CHECK(page.canvas().scene()->classSteps()[0][0].exposed == 50'000'000);
  for (const Command& command : page.view.commands()) {
    if (command.id == "timeline.find-track") continue;
    command.run();
    page.settle();
  }
  page.run("timeline.clear");
  page.run("timeline.next");
  CHECK(page.view.detailsPanel().toPlainText().startsWith("gemm"));
}

TEST_CASE("timeline: the window's thread is not kept from its events while a large run opens") {
  Session session;
  TimelineView view(session, nullptr);
  view.resize(1280, 800);
  view.show();
  const auto run = simulated("moe_10k");
  QTest::qWait(50);
  Watchdog watchdog;
  session.open(run);
  for (int i = 0; i < 2000 && !view.settled(); ++i) QTest::qWait(5);
  CHECK(watchdog.longestBusyMs() < 250);  // 50 on a machine of its own
}

TEST_CASE("timeline: a run shows from its stored levels while its log is read, and keeps what its user did") {
  const Session::Run whole = simulated("moe_10k");
  auto loading = std::make_shared<OpenedRun>(*whole);
  loading->id = 3;
  auto complete = std::make_shared<OpenedRun>(*loading);
  loading->logs.clear();
  loading->loading = true;
  loading->levels.resize(loading->reports.size());
  loading->levels[0] = encodeLevels(TimelineScene(timelineOf(whole->logs[0])));
  Session session;
  TimelineView view(session, nullptr);
  view.resize(1280, 800);
  view.show();
  session.open(loading);
  for (int i = 0; i < 2000 && !view.canvas().scene(); ++i) QTest::qWait(5);
  REQUIRE(view.canvas().scene());
  CHECK(view.canvas().scene()->coarse());
  CHECK_FALSE(view.settled());  // a picture of it would not be exact
  view.repaint();
  const QImage first = view.canvas().grab().toImage();
  for (const Command& command : view.commands())
    if (command.id != "timeline.find-track") command.run();
  view.canvas().setClosed(0, true);
  const TimeRange zoom = view.canvas().scene()->lastStep();
  session.setZoom({zoom.begin, zoom.begin + zoom.length() / 2});
  const TimeRange kept = session.zoom();

  SECTION("its log arrives") {
    session.complete(loading, complete);
    for (int i = 0; i < 2000 && !view.settled(); ++i) QTest::qWait(5);
    REQUIRE(view.settled());
    CHECK_FALSE(view.canvas().scene()->coarse());
    CHECK(session.zoom() == kept);
    CHECK(view.canvas().isClosed(0));
    // Seen as before, the exact picture is that of the levels but for shades.
    view.canvas().setClosed(0, false);
    view.canvas().fit(view.canvas().scene()->lastStep());
    for (int i = 0; i < 2000 && !view.settled(); ++i) QTest::qWait(5);
    view.repaint();
    const QImage second = view.canvas().grab().toImage();
    REQUIRE(second.size() == first.size());
    std::size_t different = 0, compared = 0;
    for (int y = view.canvas().lanesTop(); y < first.height(); y += 3)
      for (int x = view.canvas().margins().tree; x < first.width(); x += 3, ++compared) {
        const QColor a = first.pixelColor(x, y), b = second.pixelColor(x, y);
        different +=
            std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) + std::abs(a.blue() - b.blue()) >
                    180
                ? 1
                : 0;
      }
    CHECK(static_cast<double>(different) < 0.1 * static_cast<double>(compared));
  }
  SECTION("its log cannot be read") {
    auto rest = std::make_shared<OpenedRun>(*loading);
    rest->loading = false;
    rest->levels.clear();
    session.complete(loading, rest);
    for (int i = 0; i < 2000 && !view.settled(); ++i) QTest::qWait(5);
    CHECK(view.settled());
    CHECK_FALSE(view.canvas().scene());
  }
  SECTION("another run is opened before") {
    session.open(simulated("tiny"));
    session.complete(loading, complete);
    for (int i = 0; i < 2000 && !view.settled(); ++i) QTest::qWait(5);
    CHECK(session.current()->title == "tiny");
    REQUIRE(view.canvas().scene());
    CHECK_FALSE(view.canvas().scene()->coarse());
  }
  SECTION("its levels are damaged") {
    auto damaged = std::make_shared<OpenedRun>(*loading);
    damaged->levels[0].resize(20);
    session.open(damaged);
    QTest::qWait(50);
    CHECK_FALSE(view.canvas().scene());
    session.complete(damaged, complete);
    for (int i = 0; i < 2000 && !view.settled(); ++i) QTest::qWait(5);
    REQUIRE(view.canvas().scene());
    CHECK_FALSE(view.canvas().scene()->coarse());
  }
}

TEST_CASE("timeline: themes change the picture") {
  Page page(simulated("tiny"));
  const QImage light = page.view.grab().toImage();
  page.session.setTheme(Theme::dark);
  page.settle();
  CHECK(page.view.grab().toImage() != light);
}

namespace {

/// Two streams of many short slices: kernels on one, collectives on the other; the last tenth of the
/// collectives is exposed.
Session::Run dense(std::size_t count) {
  auto data = std::make_shared<TimelineData>();
  data->names = {"gemm", "needle", "gather"};
  data->tracks.push_back({.kind = Track::Kind::rankClass, .title = "rank 0"});
  for (const bool communication : {false, true}) {
    LaneColumns lane;
    for (std::size_t i = 0; i < count; ++i) {
      const auto begin = static_cast<core::Picoseconds>(i) * 1000;
      if (!communication && i >= count - count / 10) break;
      lane.begin.push_back(begin);
      lane.end.push_back(begin + 1000);
      lane.kind.push_back(communication ? SliceClass::allGather : SliceClass::forward);
      lane.source.push_back(communication ? 2 : i % 5000 == 7 ? 1 : 0);
    }
    data->tracks.push_back({.kind = Track::Kind::stream,
                            .title = communication ? "comm" : "compute",
                            .depth = 1,
                            .lane = communication ? 1 : 0,
                            .compute = !communication,
                            .communication = communication});
    data->lanes.push_back(std::move(lane));
  }
  data->whole = {0, static_cast<core::Picoseconds>(count) * 1000};
  auto run = std::make_shared<OpenedRun>();
  run->imported = data;
  return run;
}

}  // namespace

TEST_CASE("timeline: exposed communication stays bright, however many slices there are") {
  Page page(dense(300'000));
  page.run("timeline.fit");
  const QImage before = page.canvas().grab().toImage();
  page.run("timeline.exposed");
  const QImage after = page.canvas().grab().toImage();
  const TimelineFrame frame = page.canvas().frame(page.canvas().size(), 1);
  const auto pixel = [&](const QImage& image, double share, std::int64_t lane) {
    for (const TimelineRow& row : page.canvas().rows())
      if (row.lane == lane)
        return image.pixelColor(
            page.canvas().margins().tree +
                static_cast<int>(frame.axis.toX(static_cast<core::Picoseconds>(share * 300'000'000))),
            page.canvas().lanesTop() + row.top + row.height - 5);
    return QColor();
  };
  CHECK(pixel(after, 0.95, 1) == pixel(before, 0.95, 1));
  CHECK(pixel(after, 0.5, 1) != pixel(before, 0.5, 1));
  CHECK(pixel(after, 0.5, 0) != pixel(before, 0.5, 0));
}

TEST_CASE("timeline: hits are marked in lanes of any number of slices") {
  Page page(dense(300'000));
  page.run("timeline.fit");
  const QImage before = page.canvas().grab().toImage();
  page.view.findChild<QLineEdit*>()->setText("needle");
  page.settle();
  REQUIRE(page.canvas().extras().hits);
  CHECK(page.canvas().extras().hits->count == 54);
  const QImage after = page.canvas().grab().toImage();
  int marked = 0;
  const auto& rows = page.canvas().rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [](const TimelineRow& r) { return r.lane == 0; });
  REQUIRE(row != rows.end());
  const int y = page.canvas().lanesTop() + row->top + row->height - 2;
  for (int x = page.canvas().margins().tree; x < after.width(); ++x)
    marked += after.pixel(x, y) != before.pixel(x, y) ? 1 : 0;
  CHECK(marked >= 50);
  CHECK(marked < 300);
}

TEST_CASE("timeline: a pointer that moves draws neither names nor hits anew") {
  Page page(simulated("tiny"));
  page.canvas().grab();
  const int before = page.canvas().basesDrawn();
  const QPointF at = page.middleOf(page.longest());
  for (const QPointF position : {at, QPointF(5, 5), at}) {
    QMouseEvent move(QEvent::MouseMove, position, page.canvas().mapToGlobal(position), Qt::NoButton,
                     Qt::NoButton, {});
    QApplication::sendEvent(&page.canvas(), &move);
    page.canvas().grab();
  }
  CHECK(page.canvas().basesDrawn() == before);
  page.run("timeline.exposed");
  page.canvas().grab();
  CHECK(page.canvas().basesDrawn() > before);
}

TEST_CASE("timeline: the critical path arrives although the selection changes meanwhile") {
  Page page(simulated("tiny"));
  for (const Command& command : page.view.commands())
    if (command.id == "timeline.path" || command.id == "timeline.next") command.run();
  for (const Command& command : page.view.commands())
    if (command.id == "timeline.next") command.run();
  page.settle();
  CHECK(page.canvas().extras().path);
}

TEST_CASE("timeline: a page that is not shown has no work with a run that opens") {
  Session session;
  TimelineView view(session, nullptr);
  session.open(simulated("tiny"));
  CHECK(view.settled());
  CHECK_FALSE(view.canvas().scene());
  view.show();
  REQUIRE(QTest::qWaitFor([&] { return view.settled() && view.canvas().scene(); }, 20'000));
}
