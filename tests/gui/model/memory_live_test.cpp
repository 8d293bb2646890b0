#include <catch2/catch.hpp>
#include <set>

#include "gui/model/live_set.h"
#include "gui/model/memory_check.h"
#include "tests/gui/model/memory_log.h"

using namespace vsim;
using gui::Lifetimes;
using gui::MemoryCurve;

namespace {

core::Bytes brutePeakWithout(const MemoryCurve& curve, core::Index buffer) {
  core::Bytes peak = 0, charge = 0;
  for (std::int64_t i = 0; i < curve.size(); ++i) {
    const core::MemoryEvent& e = curve.events()[static_cast<std::size_t>(i)];
    if (e.buffer == buffer) charge = e.allocate ? curve.change(i) : 0;
    peak = std::max(peak, e.allocated - charge);
  }
  return peak;
}

}  // namespace

TEST_CASE("What is live is what a replay of the events has") {
  const auto log = test::randomMemoryLog(31, 5000, 120);
  const MemoryCurve curve(log, 0);
  const Lifetimes lifetimes(curve);
  std::set<core::Index> live;
  for (std::int64_t i = 0; i < curve.size(); ++i) {
    const core::MemoryEvent& e = curve.events()[static_cast<std::size_t>(i)];
    if (e.allocate)
      live.insert(e.buffer);
    else
      live.erase(e.buffer);
    if (i % 13 != 0) continue;
    std::set<core::Index> found;
    core::Bytes bytes = 0;
    for (const std::int64_t l : lifetimes.liveAfter(i)) {
      found.insert(lifetimes.all()[static_cast<std::size_t>(l)].buffer);
      bytes += lifetimes.charge(l);
    }
    REQUIRE(found == live);
    REQUIRE(bytes == e.allocated);
    const gui::LiveSet set = gui::liveAfter(lifetimes, i);
    REQUIRE(set.buffers() == live.size());
    core::Bytes total = 0;
    for (const gui::LiveSet::Part& part : set.parts) {
      core::Bytes units = 0;
      for (const gui::LiveSet::Unit& unit : part.units) units += unit.bytes;
      REQUIRE(units == part.bytes);
      total += part.bytes;
    }
    REQUIRE(total == set.allocated);
  }
}

TEST_CASE("Peak if removed is exact") {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const MemoryCurve curve(test::randomMemoryLog(seed, 3000, 25), 0);
    const Lifetimes lifetimes(curve);
    for (core::Index buffer = 0; buffer < 25; ++buffer)
      REQUIRE(lifetimes.peakWithout(buffer) == brutePeakWithout(curve, buffer));
    CHECK(lifetimes.peakWithout(999) == curve.allocated(curve.peak()));
  }
}

TEST_CASE("Every event begins or ends a lifetime") {
  const MemoryCurve curve(test::randomMemoryLog(8, 1000, 25), 0);
  const Lifetimes lifetimes(curve);
  for (std::int64_t i = 0; i < curve.size(); ++i) {
    const auto& l = lifetimes.all()[static_cast<std::size_t>(lifetimes.ofEvent(i))];
    REQUIRE((l.begin == i || l.end == i));
    REQUIRE(l.buffer == curve.events()[static_cast<std::size_t>(i)].buffer);
  }
  CHECK(lifetimes.ofEvent(-1) == -1);
  CHECK(lifetimes.ofEvent(curve.size()) == -1);
}

TEST_CASE("Buffers from before the log are live until they are released") {
  const auto whole = test::randomMemoryLog(14, 2000, 40);
  const MemoryCurve curve(test::withoutBeginning(*whole, 700), 0);
  const Lifetimes lifetimes(curve);
  const gui::LiveSet first = gui::liveAfter(lifetimes, -1);
  CHECK(first.allocated == whole->ranks[0].memory[699].allocated);
  for (const gui::LiveSet::Part& part : first.parts)
    for (const auto& unit : part.units)
      for (const gui::LiveBuffer& buffer : unit.buffers) {
        CHECK_FALSE(buffer.allocatedAt);
        CHECK(buffer.freedAt);
      }
  const gui::DataTable table = gui::tableOf(first, *whole->program);
  CHECK(table.rows.size() >= first.buffers());
  for (const auto& row : table.rows) CHECK(row.size() == table.header.size());
}

TEST_CASE("The check accepts what an allocator does and names the first event that is wrong") {
  auto log = test::randomMemoryLog(41, 2000, 40);
  const auto look = [&](core::Bytes limit = 0) {
    return gui::checkMemory(MemoryCurve(log, 0), {limit, 0, 0});
  };
  CHECK(look().holds());
  auto& memory = log->ranks[0].memory;

  SECTION("a release gives back less than the allocation took") {
    std::size_t at = 1000;
    while (memory[at].allocate) ++at;
    for (std::size_t i = at; i < memory.size(); ++i) {
      memory[i].allocated += 512;
      memory[i].active += 512;
      memory[i].reserved += 512;
    }
    CHECK(look().firstEvent == static_cast<std::int64_t>(at));
    CHECK(look().first.find("categories sum to") != std::string::npos);
  }
  SECTION("an event is missing") {
    memory.erase(memory.begin() + 900);
    CHECK_FALSE(look().holds());
    CHECK(look().firstEvent >= 899);
  }
  SECTION("active below allocated") {
    memory[77].active = memory[77].allocated - 1;
    CHECK(look().firstEvent == 77);
    CHECK(look().first.find("exceeds active") != std::string::npos);
  }
  SECTION("reserved below active") {
    memory[78].reserved = memory[78].active - 1;
    CHECK(look().firstEvent == 78);
  }
  SECTION("a buffer that is not there") {
    memory[79].buffer = 5000;
    CHECK(look().firstEvent == 79);
  }
  SECTION("time goes back") {
    memory[1500].time = memory[1499].time - 1;
    CHECK(look().firstEvent == 1500);
  }
  SECTION("over the limit alone") {
    const gui::MemoryCheck check = look(memory[500].reserved - 1);
    CHECK(check.firstEvent <= 500);
    CHECK(check.firstEvent > 0);
    CHECK(check.overLimitAlone);
    CHECK(check.first.find("the limit") != std::string::npos);
  }
}
