#include "gui/model/memory_curve.h"

#include <catch2/catch.hpp>
#include <map>
#include <numeric>

#include "tests/gui/model/memory_log.h"

using namespace vsim;
using gui::MemoryCurve;
using gui::MemoryExtent;
using gui::MemoryParts;

namespace {

MemoryExtent bruteExtent(const MemoryCurve& curve, std::int64_t begin, std::int64_t end) {
  MemoryExtent all;
  const auto take = [](MemoryExtent::Span& span, core::Bytes value) {
    span.least = std::min(span.least, value);
    span.most = std::max(span.most, value);
  };
  for (std::int64_t i = std::max<std::int64_t>(0, begin); i < std::min(end, curve.size()); ++i) {
    const core::MemoryEvent& e = curve.events()[static_cast<std::size_t>(i)];
    if (e.allocated > all.allocated.most) all.peak = i;
    take(all.allocated, e.allocated);
    take(all.active, e.active);
    take(all.reserved, e.reserved);
  }
  return all;
}

core::Bytes sum(const MemoryParts& parts) {
  return std::accumulate(parts.begin(), parts.end(), core::Bytes{0});
}

}  // namespace

TEST_CASE("Extremes of any events are those of a scan") {
  const std::size_t sizes[] = {1, 2, 15, 16, 17, 255, 256, 257, 5000};
  for (const std::size_t size : sizes) {
    const MemoryCurve curve(test::randomMemoryLog(7, size, 40), 0);
    std::mt19937 random(11);
    for (int i = 0; i < 2000; ++i) {
      const auto n = static_cast<std::uint32_t>(size);
      const std::int64_t a = random() % (n + 1), b = random() % (n + 1);
      REQUIRE(curve.extent(std::min(a, b), std::max(a, b)) ==
              bruteExtent(curve, std::min(a, b), std::max(a, b)));
    }
  }
}

TEST_CASE("Composition after any event sums to what is allocated, by category as replayed") {
  const auto log = test::randomMemoryLog(3, 3000, 60);
  const MemoryCurve curve(log, 0);
  CHECK(curve.complete());
  std::map<core::Index, core::Bytes> live;
  MemoryParts expected{};
  std::array<core::Bytes, gui::kMemoryParts> without{};
  for (std::int64_t i = 0; i < curve.size(); ++i) {
    const core::MemoryEvent& e = curve.events()[static_cast<std::size_t>(i)];
    const auto part = static_cast<std::size_t>(log->program->buffers[e.buffer].category);
    if (e.allocate) live[e.buffer] = curve.change(i);
    expected[part] += e.allocate ? live[e.buffer] : -live[e.buffer];
    REQUIRE(curve.partsAfter(i) == expected);
    REQUIRE(sum(expected) == e.allocated);
    for (std::size_t p = 0; p < gui::kMemoryParts; ++p)
      without[p] = std::max(without[p], e.allocated - expected[p]);
  }
  for (std::size_t p = 0; p < gui::kMemoryParts; ++p) CHECK(curve.peakWithout(p) == without[p]);
}

TEST_CASE("A peak of one event is in exactly one column at every zoom") {
  auto log = test::randomMemoryLog(5, 20000, 30);
  auto& memory = log->ranks[0].memory;
  core::Index number = 0;
  for (const std::size_t at : {std::size_t{100}, std::size_t{7777}, memory.size() - 1}) {
    // A spike of no length: allocated and given back at one time.
    const core::MemoryEvent before = memory[at - 1];
    core::MemoryEvent spike = before;
    spike.allocated = spike.active = spike.reserved = (core::Bytes{2} + number++) << 40;
    memory.insert(memory.begin() + static_cast<std::ptrdiff_t>(at), {spike, before});
  }
  const MemoryCurve curve(log, 0);
  std::mt19937_64 random(13);
  std::vector<MemoryExtent> columns;
  for (int i = 0; i < 400; ++i) {
    const auto length = static_cast<std::uint64_t>(curve.whole().length());
    const auto a = static_cast<core::Picoseconds>(random() % length),
               b = static_cast<core::Picoseconds>(random() % length);
    const gui::TimeAxis axis{{std::min(a, b), std::max(a, b) + 5000}, 1 + static_cast<int>(random() % 1920)};
    curve.columns(axis, columns);
    for (std::int64_t e = 0; e < curve.size(); ++e) {
      const core::MemoryEvent& event = curve.events()[static_cast<std::size_t>(e)];
      if (event.allocated < core::Bytes{2} << 40) continue;
      if (event.time < axis.view.begin || event.time >= axis.view.end) continue;
      int seen = 0;
      for (int x = 0; x < axis.width; ++x)
        if (event.time >= axis.boundary(x) && event.time < axis.boundary(x + 1)) {
          ++seen;
          REQUIRE(columns[static_cast<std::size_t>(x)].allocated.most >= event.allocated);
        }
      REQUIRE(seen == 1);
    }
    core::Bytes most = 0, expected = 0;
    for (const MemoryExtent& column : columns)
      if (!column.empty()) most = std::max(most, column.allocated.most);
    const std::int64_t first = curve.firstAt(axis.view.begin), end = curve.firstAt(axis.view.end);
    expected = curve.extent(first - 1, end).allocated.most;
    REQUIRE(most == expected);
  }
}

TEST_CASE("An axis of events loses no event either") {
  const MemoryCurve curve(test::randomMemoryLog(19, 3000, 30), 0);
  std::mt19937 random(5);
  std::vector<MemoryExtent> columns;
  for (int i = 0; i < 300; ++i) {
    const std::int64_t begin = static_cast<std::int64_t>(random() % 3'100'000) - 50'000;
    const gui::TimeAxis axis{{begin, begin + 1000 + static_cast<std::int64_t>(random() % 1'000'000)},
                             1 + static_cast<int>(random() % 900)};
    curve.eventColumns(axis, columns);
    MemoryExtent all;
    for (int x = 0; x < axis.width; ++x) {
      const MemoryExtent& column = columns[static_cast<std::size_t>(x)];
      const std::int64_t middle = (axis.boundary(x) + axis.boundary(x + 1)) / 2;
      if (axis.boundary(x + 1) <= 0 || axis.boundary(x) >= 3'000'000) {
        REQUIRE(column.empty());
        continue;
      }
      if (middle < 0 || middle >= 3'000'000) continue;
      REQUIRE(column.allocated.most >= curve.allocated(middle / 1000));
      REQUIRE(column.allocated.least <= curve.allocated(middle / 1000));
      all.allocated.most = std::max(all.allocated.most, column.allocated.most);
    }
    const std::int64_t first = std::max<std::int64_t>(0, axis.view.begin / 1000);
    const std::int64_t end = (axis.view.end + 999) / 1000;
    if (all.allocated.most > 0) REQUIRE(all.allocated.most <= curve.extent(first, end).allocated.most);
  }
}

TEST_CASE("Times lead to events") {
  const MemoryCurve curve(test::randomMemoryLog(9, 3000, 30), 0);
  std::mt19937 random(2);
  for (int i = 0; i < 3000; ++i) {
    const core::Picoseconds t = random() % static_cast<std::uint32_t>(curve.whole().end + 10);
    std::int64_t expected = 0;
    while (expected < curve.size() && curve.time(expected) < t) ++expected;
    REQUIRE(curve.firstAt(t) == expected);
    const std::int64_t from = random() % 3001;
    REQUIRE(curve.firstAt(t, from) == std::max(from, expected));
    std::int64_t last = curve.size() - 1;
    while (last >= 0 && curve.time(last) > t) --last;
    REQUIRE(curve.lastAt(t) == last);
  }
  CHECK(curve.firstAt(-5) == 0);
  CHECK(curve.lastAt(-5) == -1);
}

TEST_CASE("A log that begins in the middle shows what was there as such") {
  const auto whole = test::randomMemoryLog(21, 4000, 50);
  const MemoryCurve all(whole, 0);
  for (const std::size_t cut : {std::size_t{500}, std::size_t{501}, std::size_t{1234}}) {
    const MemoryCurve part(test::withoutBeginning(*whole, cut), 0);
    CHECK_FALSE(part.complete());
    CHECK(part.peak() >= 0);
    const auto base = static_cast<std::int64_t>(cut) - 1;
    CHECK(part.allocated(-1) == all.allocated(base));
    for (std::int64_t i = 0; i < part.size(); i += 7) {
      const MemoryParts shown = part.partsAfter(i);
      const MemoryParts real = all.partsAfter(base + 1 + i);
      REQUIRE(sum(shown) == part.allocated(i));
      for (std::size_t p = 0; p < gui::kEarlierMemory; ++p) REQUIRE(shown[p] <= real[p]);
    }
  }
}

TEST_CASE("Events that go back in time, of unknown buffers, or none at all") {
  auto log = test::randomMemoryLog(4, 200, 10);
  log->ranks[0].memory[50].time = 0;
  log->ranks[0].memory[60].buffer = 100000;
  const MemoryCurve curve(log, 0);
  for (std::int64_t i = 1; i < curve.size(); ++i) REQUIRE(curve.time(i) >= curve.time(i - 1));
  CHECK(sum(curve.partsAfter(199)) == curve.allocated(199));

  log->ranks[0].memory.clear();
  const MemoryCurve empty(log, 0);
  CHECK(empty.peak() == -1);
  CHECK(empty.extent(-1, 5).allocated.most == 0);
  CHECK(sum(empty.partsAfter(3)) == 0);
  std::vector<MemoryExtent> columns;
  empty.columns({empty.whole(), 100}, columns);
  CHECK(columns.size() == 100);
}

TEST_CASE("The index adds at most 7 bytes an event") {
  const MemoryCurve curve(test::randomMemoryLog(4, 100000, 100), 0);
  CHECK(static_cast<double>(curve.bytes()) / 100000 < 7);
}
