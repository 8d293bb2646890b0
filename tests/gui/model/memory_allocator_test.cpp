#include <catch2/catch.hpp>

#include "app/run.h"
#include "gui/model/memory_data.h"
#include "tests/gui/model/memory_log.h"

using namespace vsim;
using gui::AllocatorMap;
using gui::MemoryData;

namespace {

/// The map after `event`, as an allocator that got the same requests shows it.
std::vector<sim::CachingAllocator::SegmentView> snapshotAfter(const core::ExecutionLog& log,
                                                              std::int64_t event, core::Bytes capacity) {
  sim::AllocatorOptions options;
  options.capacity = capacity;
  sim::CachingAllocator allocator(options);
  std::vector<std::uint64_t> address(log.program->buffers.size());
  for (std::int64_t i = 0; i <= event; ++i) {
    const core::MemoryEvent& e = log.ranks[0].memory[static_cast<std::size_t>(i)];
    const core::Buffer& buffer = log.program->buffers[e.buffer];
    if (!e.allocate) {
      allocator.release(address[e.buffer]);
      continue;
    }
    auto block = allocator.allocate(buffer.bytes(), buffer.stream);
    if (!block) {
      allocator.liftLimit();
      block = allocator.allocate(buffer.bytes(), buffer.stream);
    }
    address[e.buffer] = block->address;
  }
  return allocator.snapshot();
}

void compare(const AllocatorMap& map, const std::vector<sim::CachingAllocator::SegmentView>& expected) {
  REQUIRE(map.segments.size() == expected.size());
  for (std::size_t s = 0; s < expected.size(); ++s) {
    const AllocatorMap::Segment& segment = map.segments[s];
    REQUIRE(segment.address == expected[s].address);
    REQUIRE(segment.size == expected[s].size);
    REQUIRE(segment.allocated == expected[s].allocated);
    REQUIRE(segment.stream == expected[s].stream);
    REQUIRE(segment.small == expected[s].small);
    REQUIRE(segment.blocks.size() == expected[s].blocks.size());
    for (std::size_t b = 0; b < segment.blocks.size(); ++b) {
      const auto& view = expected[s].blocks[b];
      REQUIRE(segment.blocks[b].address == view.address);
      REQUIRE(segment.blocks[b].size == view.size);
      REQUIRE((segment.blocks[b].lifetime >= 0) ==
              (view.state == sim::CachingAllocator::BlockState::allocated));
      if (segment.blocks[b].lifetime >= 0) REQUIRE(segment.blocks[b].asked == view.requested);
    }
  }
}

}  // namespace

TEST_CASE("The map is the allocator's snapshot at every instant") {
  for (const core::Bytes capacity : {sim::kUnlimited, 900 * sim::kMebi}) {
    const auto log = test::randomMemoryLog(51, 1500, 60, capacity);
    const gui::MemoryLimit limit{capacity == sim::kUnlimited ? 0 : capacity, 0, 0};
    const MemoryData data(log, 0, limit, nullptr);
    REQUIRE(data.allocator);
    CHECK(data.allocator->differsFrom() == -1);
    CHECK(data.allocator->failure().has_value() == log->ranks[0].peak.outOfMemory);
    for (std::int64_t e = 0; e < data.curve.size(); e += 41) {
      const AllocatorMap map = data.allocator->mapAfter(e);
      compare(map, snapshotAfter(*log, e, capacity));
      CHECK(map.reserved == data.curve.events()[static_cast<std::size_t>(e)].reserved);
      CHECK(map.allocated == data.curve.allocated(e));
      CHECK(map.free == map.reserved - map.allocated);
      CHECK(map.fragmentation() >= 0);
      CHECK(map.fragmentation() < 1);
    }
  }
}

TEST_CASE("Fragmentation counts the largest free block") {
  AllocatorMap map;
  CHECK(map.fragmentation() == 0);
  map.free = 100;
  map.largestFree = 25;
  CHECK(map.fragmentation() == Approx(0.75));
}

TEST_CASE("A log of the last step has no map, and says so") {
  const auto log = test::withoutBeginning(*test::randomMemoryLog(6, 500, 20), 100);
  const MemoryData data(log, 0, {}, nullptr);
  CHECK_FALSE(data.allocator);
  CHECK(gui::allocatorRemark(data).find("no map") != std::string::npos);
  REQUIRE_FALSE(gui::memoryRemarks(data).empty());
}

TEST_CASE("A log of other addresses is replayed, and one of other totals says from where") {
  auto log = test::randomMemoryLog(6, 500, 20);
  log->executor = "cuda";
  for (core::MemoryEvent& e : log->ranks[0].memory) e.address += 0x7f00000000;
  CHECK(gui::allocatorRemark(MemoryData(log, 0, {}, nullptr)).find("replayed") == 0);
  log->ranks[0].memory[300].reserved += 1 << 20;
  const MemoryData data(log, 0, {}, nullptr);
  CHECK(data.allocator->differsFrom() == 300);
  CHECK(gui::allocatorRemark(data).find("301") != std::string::npos);
}

TEST_CASE("Real runs: numbers are the report's, the replay is what was simulated") {
  struct Case {
    const char* scenario;
    std::vector<std::pair<std::string, std::string>> overrides;
    bool fits;
  };
  for (const Case& c : {Case{"tiny", {}, true}, Case{"llama3_8b_64", {}, true}, Case{"moe_10k", {}, true},
                        Case{"llama3_8b_64", {{"batch.micro_batch", "64"}}, false}}) {
    INFO(c.scenario);
    app::RunOptions options{.scenario = c.scenario, .overrides = c.overrides, .keepLogs = true};
    auto results = app::run(options, [](const std::string&, double) {});
    REQUIRE(results);
    gui::OpenedRun run;
    for (auto& result : *results) {
      run.reports.push_back(result.report);
      run.logs.push_back(result.log);
    }
    for (std::size_t i = 0; i < run.reports.size(); ++i) {
      const core::RunReport& report = run.reports[i];
      const auto data = gui::memoryOf(run, i, gui::worstMemoryClass(*run.logs[i]));
      REQUIRE(data);
      CHECK(data->curve.complete());
      CHECK(data->curve.allocated(data->curve.peak()) == report.peakAllocated);
      CHECK(data->curve.extent(0, data->curve.size()).reserved.most == report.peakReserved);
      const gui::MemoryParts parts = data->curve.partsAfter(data->curve.peak());
      const auto outside = static_cast<std::size_t>(core::MemoryCategory::ncclContext);
      for (std::size_t p = 0; p < report.memoryByCategory.size(); ++p)
        CHECK(parts[p] == report.memoryByCategory[p] -
                              (p == outside ? report.hardware.contextBytes + report.hardware.ncclBytes : 0));
      CHECK(data->check.holds() == c.fits);
      CHECK(data->check.overLimitAlone);
      REQUIRE(data->allocator);
      CHECK(data->allocator->differsFrom() == -1);
      CHECK(data->allocator->failure().has_value() == !c.fits);
      CHECK(gui::memoryRemarks(*data).empty() == c.fits);
      CHECK(gui::curveTable(data->curve, std::nullopt).rows.size() == data->curve.events().size());
    }
  }
}

TEST_CASE("Why there is no memory is a sentence") {
  CHECK(gui::whyNoMemory(nullptr, 0, 0).find("No run") == 0);
  gui::OpenedRun run;
  CHECK_FALSE(gui::whyNoMemory(&run, 0, 0).empty());
  run.logs.push_back(nullptr);
  CHECK(gui::whyNoMemory(&run, 0, 0).find("not kept") != std::string::npos);
  auto log = std::make_shared<core::ExecutionLog>();
  run.logs[0] = log;
  CHECK_FALSE(gui::whyNoMemory(&run, 0, 0).empty());
  log->program = std::make_shared<core::StepProgram>();
  CHECK_FALSE(gui::whyNoMemory(&run, 0, 0).empty());
  log->ranks.emplace_back();
  CHECK(gui::whyNoMemory(&run, 0, 0).find("no memory events") != std::string::npos);
  CHECK(gui::memoryOf(run, 0, 0) == nullptr);
  CHECK_FALSE(gui::whyNoMemory(&run, 0, 7).empty());
}
