#include <catch2/catch.hpp>

#include "gui/model/allocation_list.h"
#include "tests/gui/model/memory_log.h"

using namespace vsim;
using gui::AllocationColumn;
using gui::AllocationQuery;

TEST_CASE("Allocations are found by all words, in any case, and ordered by any column") {
  const auto log = test::randomMemoryLog(61, 2000, 50);
  const gui::MemoryData data(log, 0, {}, nullptr);
  const auto all = gui::allocationsFor(data, {});
  REQUIRE(all.size() == data.lifetimes.all().size());
  CHECK(std::is_sorted(all.begin(), all.end()));
  const auto some = gui::allocationsFor(data, {.text = "  Activations L1 "});
  std::size_t expected = 0;
  for (const gui::Lifetime& l : data.lifetimes.all()) {
    const core::Buffer& b = log->program->buffers[l.buffer];
    expected += b.category == core::MemoryCategory::activations && b.unit == 1 ? 1U : 0U;
  }
  CHECK(some.size() == expected);
  CHECK(gui::allocationsFor(data, {.text = "nothing like this"}).empty());
  for (std::size_t c = 0; c < gui::kAllocationColumns; ++c) {
    auto rows = gui::allocationsFor(data, {.sort = static_cast<AllocationColumn>(c), .descending = true});
    const auto up = gui::allocationsFor(data, {.sort = static_cast<AllocationColumn>(c)});
    std::reverse(rows.begin(), rows.end());
    REQUIRE(rows == up);
    rows = up;
    std::sort(rows.begin(), rows.end());
    REQUIRE(rows == all);
  }
  const auto bySize = gui::allocationsFor(data, {.sort = AllocationColumn::taken});
  for (std::size_t i = 1; i < bySize.size(); ++i)
    REQUIRE(data.lifetimes.charge(bySize[i - 1]) <= data.lifetimes.charge(bySize[i]));
}

TEST_CASE("A limit keeps what is live within it") {
  const auto log = test::randomMemoryLog(62, 2000, 50);
  const gui::MemoryData data(log, 0, {}, nullptr);
  const gui::TimeRange limit{data.curve.whole().end / 3, data.curve.whole().end / 2};
  const auto rows = gui::allocationsFor(data, {.limit = limit});
  std::size_t expected = 0;
  for (const gui::Lifetime& l : data.lifetimes.all()) {
    const core::Picoseconds begin = data.curve.time(l.begin);
    const core::Picoseconds end = l.end == gui::kNeverFreed ? data.curve.whole().end : data.curve.time(l.end);
    expected += begin < limit.end && end >= limit.begin ? 1U : 0U;
  }
  CHECK(rows.size() == expected);
  CHECK(rows.size() < data.lifetimes.all().size());
  const gui::DataTable table = gui::allocationTable(data, rows);
  CHECK(table.rows.size() == rows.size());
  for (const auto& row : table.rows) REQUIRE(row.size() == table.header.size());
}
