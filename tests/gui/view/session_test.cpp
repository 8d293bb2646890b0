#include "gui/session/session.h"

#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>
#include <limits>
#include <stdexcept>

#include "gui/session/background.h"

namespace vsim::gui {
namespace {

std::shared_ptr<OpenedRun> run(std::int64_t id, std::size_t reports = 3) {
  auto made = std::make_shared<OpenedRun>();
  made->id = id;
  made->title = "run " + std::to_string(id);
  made->source = storedSource(id, "/a/runs.sqlite");
  made->reports.resize(reports);
  made->logs.resize(reports);
  return made;
}

}  // namespace

TEST_CASE("A run opens on the report that was asked for; one that it lacks is the first") {
  Session session;
  session.open(run(1), 2);
  CHECK(session.report() == 2);
  session.open(run(2), 3);
  CHECK(session.report() == 0);
  session.open(run(3), -1);
  CHECK(session.report() == 0);
}

TEST_CASE("Back leads to the report that its zoom and selection belong to") {
  Session session;
  session.open(run(1));
  session.setZoom({100, 200});
  session.select({.kind = Selection::Kind::buffer, .report = 0, .item = 7});
  session.setReport(1);
  CHECK(session.zoom().empty());
  session.setZoom({5, 6});
  QSignalSpy changed(&session, &Session::runsChanged);
  session.back();
  CHECK(session.report() == 0);
  CHECK(session.zoom() == TimeRange{100, 200});
  CHECK(session.selection().item == 7);
  CHECK(changed.count() == 1);
  session.forward();
  CHECK(session.report() == 1);
  CHECK(session.zoom() == TimeRange{5, 6});
  CHECK(session.selection().kind == Selection::Kind::none);
}

TEST_CASE("Nothing of a closed run comes back") {
  Session session;
  session.open(run(1));
  session.addForComparison(run(2));
  session.setLimit(TimeRange{1, 2});
  session.setView("plan");
  REQUIRE(session.canGoBack());
  session.close(0);
  CHECK_FALSE(session.canGoBack());
  CHECK_FALSE(session.limit());
}

TEST_CASE("A run is compared with others, not with itself; what does not fit is said") {
  Session session;
  QSignalSpy told(&session, &Session::message);
  session.open(run(1));
  session.addForComparison(run(1));
  CHECK(session.runs().size() == 1);
  CHECK(told.count() == 1);
  auto elsewhere = run(1);  // the same number in another store
  elsewhere->source = storedSource(1, "/b/runs.sqlite");
  session.addForComparison(elsewhere);
  CHECK(session.runs().size() == 2);
  for (std::int64_t id = 2; session.runs().size() < Session::kMaxRuns; ++id)
    session.addForComparison(run(id));
  const auto before = session.runs();
  session.addForComparison(run(99));
  CHECK(session.runs() == before);
  CHECK(told.count() == 2);
  CHECK(told.back()[0].toString().contains("run 99"));
}

TEST_CASE("Addresses: times are clipped to what can be computed with, wrong ones change nothing") {
  Session session;
  session.open(run(1));
  REQUIRE(
      session.applyUrl("vsim://run/1?view=memory&report=1&begin=-9223372036854775808&"
                       "end=9223372036854775807&limit-begin=0&limit-end=9223372036854775807"));
  CHECK(session.report() == 1);
  CHECK(session.view() == "memory");
  CHECK(session.zoom().length() > 0);
  CHECK(session.zoom().length() < std::numeric_limits<core::Picoseconds>::max() / 3);
  CHECK(session.limit()->length() > 0);
  const QString before = session.toUrl();
  for (const char* wrong :
       {"vsim://run/1?report=99", "vsim://run/1?report=x", "vsim://run/1?report=-1&view=plan",
        "vsim://run/1?begin=9&end=3", "vsim://run/1?select=slice:1", "http://run/1", "vsim://run/1?begin=1",
        "vsim://run/1?begin=9223372036854775000&end=9223372036854775807"}) {
    INFO(wrong);
    const auto applied = session.applyUrl(wrong);
    REQUIRE_FALSE(applied.has_value());
    CHECK_FALSE(applied.error().message.empty());
    CHECK(session.toUrl() == before);
  }
  CHECK(session.applyUrl("vsim://run/1?report=99").error().hint == "the run has 3, counted from 0");
  session.setZoom({std::numeric_limits<core::Picoseconds>::min(), 0});
  CHECK(session.zoom().length() > 0);
}

TEST_CASE("Background work that throws is reported and leaves its slot free") {
  Background slot;
  QString told;
  Background::reportTo([&](const QString& problem) { told = problem; });
  QSignalSpy failed(&slot, &Background::failed);
  bool done = false;
  slot.start<int>([](const Background::Cancelled&) -> int { throw std::length_error("too long"); },
                  [&](int) { done = true; });
  CHECK(slot.busy());
  REQUIRE(QTest::qWaitFor([&] { return failed.count() == 1; }, 20'000));
  CHECK(told == "too long");
  CHECK_FALSE(slot.busy());
  CHECK_FALSE(done);
  slot.start<int>([](const Background::Cancelled&) -> int { throw 3; }, [](int) {});
  REQUIRE(QTest::qWaitFor([&] { return failed.count() == 2; }, 20'000));
  Background::reportTo({});
  slot.start<int>([](const Background::Cancelled&) { return 4; }, [&](int result) { done = result == 4; });
  CHECK(QTest::qWaitFor([&] { return done; }, 20'000));
}

}  // namespace vsim::gui
