#include "gui/model/participants.h"

#include <catch2/catch.hpp>

#include "tests/gui/model/opened_scenario.h"

namespace vsim::gui {
namespace {

/// Four ranks that are each a little later than the one before.
std::shared_ptr<core::ExecutionLog> fourRanks(const char* system) {
  const auto run = test::openScenario("tiny");
  const std::size_t report = run->reports[0].facts.system == system ? 0 : 1;
  auto log = std::make_shared<core::ExecutionLog>(*run->logs[report]);
  const core::RankLog one = log->ranks[0];
  log->ranks.clear();
  for (int rank = 0; rank < 4; ++rank) {
    core::RankLog copy = one;
    copy.firstRank = rank;
    copy.ranks = 1;
    for (core::Slice& slice : copy.slices) slice.begin += rank * 1000, slice.end += rank * 1000;
    log->ranks.push_back(copy);
  }
  return log;
}

}  // namespace

TEST_CASE("participants: a collective's other ranks, in the same step; none of a kernel") {
  const TimelineScene scene(timelineOf(fourRanks("fsdp2")));
  const TimelineData& data = scene.data();
  std::size_t collectives = 0;
  for (const std::size_t lane : scene.classes()[1].lanes)
    for (std::size_t i = 0; i < data.lanes[lane].size(); ++i) {
      const SliceRef slice{static_cast<std::int64_t>(lane), static_cast<std::int64_t>(i)};
      const std::vector<SliceRef> others = participantsOf(scene, slice);
      if (!isCommunication(data.lanes[lane].kind[i])) {
        CHECK(others.empty());
        continue;
      }
      ++collectives;
      REQUIRE(others.size() == 3);
      for (const SliceRef other : others) {
        const LaneColumns& theirs = data.lanes[static_cast<std::size_t>(other.lane)];
        const auto at = static_cast<std::size_t>(other.slice);
        CHECK(theirs.source[at] == data.lanes[lane].source[i]);
        CHECK(std::abs(theirs.begin[at] - data.lanes[lane].begin[i]) <= 3000);
      }
    }
  CHECK(collectives > 10);
}

TEST_CASE("participants: none where one rank stands for all, nor of what is no slice") {
  const auto run = test::openScenario("tiny");
  const TimelineScene scene(timelineOf(run->logs[0]));
  for (std::int64_t lane = 0; lane < static_cast<std::int64_t>(scene.lanes().size()); ++lane)
    CHECK(participantsOf(scene, {lane, 0}).empty());
  const TimelineScene ranks(timelineOf(fourRanks("fsdp2")));
  CHECK(participantsOf(ranks, {-1, 0}).empty());
  CHECK(participantsOf(ranks, {0, -1}).empty());
  CHECK(participantsOf(ranks, {0, 1 << 30}).empty());
  CHECK(participantsOf(ranks, {1 << 20, 0}).empty());
}

}  // namespace vsim::gui
